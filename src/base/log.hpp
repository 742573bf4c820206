#pragma once

#include <pawl/log.hpp>

#include "src/base/remark.hpp"

#include <optional>
#include <string>

namespace pawl::log {

void remark(const base::Remark& remark);  // A warning, with its code if it has one.

// "" is standard error. Throws std::runtime_error that names the file.
void open(const std::string& file);
// A new file under the same name, if the one that is open was renamed; standard error stays as it
// is. Why it could not be opened, if so: then the log goes on in the old one.
std::optional<std::string> reopen();
void flush();

}  // namespace pawl::log
