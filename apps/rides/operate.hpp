#pragma once

#include <string>
#include <vector>

namespace rides {

// The operator's commands (keys, attention, completer, ...) on the database of Rocket Rides; true
// if `word` is one.
bool is_operators(const std::string& word);
int operate(const std::vector<std::string>& arguments);  // The exit code.

}  // namespace rides
