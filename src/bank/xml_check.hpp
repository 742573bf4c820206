#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::bank {

// What libxml2 must not get, as it takes a time that grows with the square of a tag's size, or
// reads what is hidden by an encoding: the reason, or nullopt. UTF-16, or an encoding that agrees
// with ASCII, as the declaration must say too (allowed_encoding).
std::optional<std::string> check_xml_bytes(std::string_view bytes);

// Of the declaration, in any case. Empty: none is declared.
bool allowed_encoding(std::string_view name);

}  // namespace pawl::bank
