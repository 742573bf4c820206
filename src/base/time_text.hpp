#pragma once

#include <pawl/detail/session.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::base {

// Times as the stores keep them: UTC, fixed width, so that texts sort by time:
// 2026-11-21T04:30:00.123Z
std::string time_text(TimePoint at);
std::optional<TimePoint> time_from_text(std::string_view text);
// Any form of RFC 3339, with an offset and up to nine decimals of a second. nullopt: another form,
// a leap second, or a part of a millisecond, which a TimePoint can't hold.
std::optional<TimePoint> time_from_rfc3339(std::string_view text);

}  // namespace pawl::base
