#pragma once

#include "src/core/restore_gap.hpp"

#include <optional>
#include <string>

namespace pawl::ops {

// What the mark file holds, as one JSON object: how far the database had come at that time.
struct OutsideMark {
    std::string installation;
    int epoch{1};
    core::Mark mark;
};

// nullopt: the file does not exist. Throws std::runtime_error with PAWL0017 if it can't be read.
std::optional<OutsideMark> read_mark_file(const std::string& path);

// Writes the whole file or nothing; it is on the disk on return. Throws std::runtime_error.
void write_mark_file(const std::string& path, const OutsideMark& mark);

}  // namespace pawl::ops
