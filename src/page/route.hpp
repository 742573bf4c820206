#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::page {

// What stands in the place of {id} in `path` if the pattern has one ("/keys/{id}"); empty: the
// pattern has none. nullopt: the path does not match. An id has no slash.
std::optional<std::string> match(std::string_view pattern, std::string_view path);

}  // namespace pawl::page
