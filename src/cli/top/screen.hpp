#pragma once

#include "src/cli/top/snapshot.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace pawl::cli {

struct Screen {
    std::size_t columns{};
    std::size_t rows{};
};

// "45 s", "3 min", "2 h", "5 d"; a time that has not come is 0 s.
std::string age_text(std::chrono::milliseconds age);

// The lines of a snapshot; with the one before it also the rates between both. Control characters
// of stored texts are replaced.
std::vector<std::string> lines_of(const Snapshot& now, const Snapshot* before);

// The part of the lines from `first` that the screen has room for, each cut to its width.
std::vector<std::string> fitted(
    const std::vector<std::string>& lines, std::size_t first, const Screen& screen
);

}  // namespace pawl::cli
