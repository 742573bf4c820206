#pragma once

#include "src/base/remark.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// One JSON object a line, on standard error or in a file. Never a key, a token or a body.
namespace pawl::log {

using Field = std::pair<std::string_view, std::string>;
using Fields = std::initializer_list<Field>;

void info(std::string_view event, Fields fields = {});
void warning(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});
void remark(const base::Remark& remark);  // A warning, with its code if it has one.

// "" is standard error. Throws std::runtime_error that names the file.
void open(const std::string& file);
// A new file under the same name, if the one that is open was renamed; standard error stays as it
// is. Why it could not be opened, if so: then the log goes on in the old one.
std::optional<std::string> reopen();
void flush();

}  // namespace pawl::log
