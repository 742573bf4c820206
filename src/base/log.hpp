#pragma once

#include <pawl/log.hpp>

#include "src/base/warning.hpp"

#include <optional>
#include <string>

namespace pawl::log {

void warn(const base::Warning& warning);  // A warning, with its code if it has one.

// "": standard error. Throws std::runtime_error, which names the file.
void open(const std::string& file);
// Opens a new file under the same name, if the open one was renamed; standard error stays. Returns
// why that failed; then the old file stays in use.
std::optional<std::string> reopen();
void flush();

}  // namespace pawl::log
