#pragma once

#include <pawl/command_info.hpp>

#include <string>

namespace pawl::cli {

// The manual page of section 1, in the macros of man(7).
std::string manual_page(const CommandInfo& program);

}  // namespace pawl::cli
