#pragma once

#include <string_view>

// Files that the pages load.
namespace rides {

extern const std::string_view style_sheet;
extern const std::string_view icon;

}  // namespace rides
