#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// The log of the service, for the application's own lines: one JSON object a line, on standard
// error or in the file of `--log`. Thread-safe; may wait for the disk. Never log a key, a token or
// a body. A value that is not UTF-8 becomes "(not UTF-8)".
namespace pawl::log {

using Field = std::pair<std::string_view, std::string>;  // A name and its text.
using Fields = std::initializer_list<Field>;

// `event` is the line's name: "ended_sessions_not_kept".
void info(std::string_view event, Fields fields = {});
void warning(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});

// Warns of a file with secrets that every user of the machine can read (PAWL0015). `what` is what
// the line calls the file.
void warn_if_others_can_read(std::string_view what, const std::string& path);

}  // namespace pawl::log
