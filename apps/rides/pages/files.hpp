#pragma once

#include <string_view>

// What the pages load beside themselves.
namespace rides {

extern const std::string_view style_sheet;
extern const std::string_view icon;

}  // namespace rides
