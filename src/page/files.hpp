#pragma once

#include <string_view>

// Made of the files in assets/ when the program is built.
namespace pawl::page {

extern const std::string_view style_sheet;
extern const std::string_view script;
extern const std::string_view icon;

}  // namespace pawl::page
