#pragma once

#include "src/core/remark.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Writes one JSON object a line, to standard error or a file. Never a key, a token or a body.
namespace pawl::log {

using Field = std::pair<std::string_view, std::string>;
using Fields = std::initializer_list<Field>;

void info(std::string_view event, Fields fields = {});
void warning(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});
void remark(const core::Remark& remark);  // A warning, with its code if it has one.

// "": standard error. Throws std::runtime_error, which names the file.
void open(const std::string& file);
// Opens a new file under the same name, if the open one was renamed; standard error stays. Returns
// why that failed; then the old file stays in use.
std::optional<std::string> reopen();
void flush();

}  // namespace pawl::log
