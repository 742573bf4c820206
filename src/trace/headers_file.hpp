#pragma once

#include <pawl/request_head.hpp>

#include <string>
#include <vector>

namespace pawl::trace {

// "NAME: VALUE" lines; empty lines and those that begin with # are left out. No name of a file: no
// headers. Throws std::invalid_argument, which names the file and the line but never its text.
std::vector<Header> read_headers(const std::string& file);

}  // namespace pawl::trace
