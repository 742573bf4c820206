#pragma once

#include <string>

namespace pawl::core {

// A URL of a database or queue as a log may show it: without its password.
std::string without_password(const std::string& url);

}  // namespace pawl::core
