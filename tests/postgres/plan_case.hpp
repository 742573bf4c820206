#pragma once

#include "store/statements.hpp"
#include "tests/postgres/interleaving.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// A statement with values that a server would send to the tables of plan_fill.hpp. Batches have ten
// rows: the cost of each row is measured.
namespace pawl::plans {

using interleaving::Text;

struct Case {
    const Sql* sql;
    std::vector<Text> values;
    // Tables and indices that it reads from end to end, and why that is right.
    std::set<std::string> walks{};
    std::string_view because{};
    // The limit of 8 KiB blocks of tables and indices; 0: none.
    int blocks_max{100};
    // It is also sent as the store's fence.
    bool fenced{false};
};

namespace at {
inline constexpr auto now = "2027-01-01 00:00:00+00";
inline constexpr auto soon = "2027-01-01 00:00:30+00";
inline constexpr auto later = "2027-01-01 00:01:00+00";
inline constexpr auto end_of_lease = "2027-01-01 00:10:00+00";
inline constexpr auto most_expiries = "2027-01-12 00:00:00+00";
inline constexpr auto half_of_these = "2027-01-07 00:00:00+00";
inline constexpr auto long_ago = "2026-01-01 00:00:00+00";
inline constexpr auto old_expiry = "2025-11-01 00:00:10+00";
}  // namespace at

namespace id {
inline constexpr auto open = "500000";
inline constexpr auto held = "515000";  // Open.
inline constexpr auto attention = "500051";
inline constexpr auto finished = "500007";
inline constexpr auto next = "3000000";  // Unused.
inline constexpr auto running_job = "120003";
inline constexpr auto ride = "150076";
inline constexpr auto trip = "76";
inline constexpr auto user = "77";
}  // namespace id

inline constexpr auto none = std::nullopt;
inline constexpr auto once_a_day = "once a day, all of them";
inline constexpr auto by_people = "asked by people, who wait";
inline constexpr auto for_metrics = "every five seconds, and seldom if it takes long";
inline constexpr auto at_the_start = "once, at the start of a server";
inline constexpr auto few_are_open =
    "the open keys alone, which are few; by their lease they would be found sooner, and then each "
    "renewal would write the index too";

// As in plan_fill.hpp.
inline std::string hash_of(const std::string& number) {
    return std::string(32 - number.size(), '0') + number;
}

}  // namespace pawl::plans
