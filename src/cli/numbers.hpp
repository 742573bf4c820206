#pragma once

#include <pawl/command_line.hpp>

#include <string>

namespace CLI {
class App;
}

// Numbers as people type them, for CLI11, whose own reading takes 010 for eight and 0x10 for
// sixteen: the number of another key, and another age. Each says what is wrong, or nothing.
namespace pawl::cli {

// check_decimal() of every option of whole numbers that `app` has by now.
void check_all_decimal(CLI::App& app);

// "30s", "15m", "2h" and "3d" become seconds; at most a hundred years.
std::string age_to_seconds(std::string& text);

}  // namespace pawl::cli
