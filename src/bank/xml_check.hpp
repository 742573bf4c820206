#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pawl::bank {

// What libxml2 must not get, as it takes a time that grows with the square of a tag's size, reads
// what is hidden by an encoding, or hands the declared encoding's name to iconv before it raises an
// event: the reason, or nullopt. UTF-16, or an encoding that agrees with ASCII, as the declaration
// must say too.
std::optional<std::string> check_xml_bytes(std::string_view bytes);

}  // namespace pawl::bank
