#pragma once

#include "store/statements.hpp"
#include "tests/postgres/plan_case.hpp"

#include <vector>

// The statements of a search for keys.
namespace pawl::plans {

// A search has one criterion, and NULL for the others.
inline std::vector<Case> cases_of_search() {
    const auto* since = "2000-01-01 00:00:00+00";
    const auto* until = "9999-01-01 00:00:00+00";
    const auto* all = "pawl_idempotency_keys";
    const auto* batch = R"({"keys":[{"id":77},{"id":78}]})";
    const auto by = [&](std::size_t n, Text value) {
        std::vector<Text> values(7, none);
        if (n > 0) values[n - 1] = std::move(value);
        for (const auto* more : {since, until, "0", "10"}) values.emplace_back(more);
        return values;
    };
    auto by_id = by(0, none);
    by_id.emplace_back("[500007, 500008]");
    return {
        {&sql::delete_key_references, {batch}},
        {&sql::find_keys_by_reference, {"req-500007", "request", "10"}},
        {&sql::find_keys_by_text, {"req-500007", "10"}},
        {&sql::find_place_of_key, {id::finished}},
        {&sql::insert_key_reference, {id::open, "ride", "1"}},
        {&sql::move_key_references, {"77", id::next}},
        {&sql::search_expired_by_id, {since, until, "0", "10", "[77, 78]"}},
        {&sql::search_expired_by_time,
         {since, until, "0", "10"},
         {"pawl_key_registry_expired", "pawl_key_registry"},
         by_people,
         0},
        {&sql::search_keys_by_account,
         by(4, "user-7"),
         {all, "pawl_idempotency_keys_created", "pawl_idempotency_keys_account"},
         by_people,
         0},
        {&sql::search_keys_by_id, by_id},
        {&sql::search_keys_by_key, by(5, "key-500007")},
        {&sql::search_keys_by_operation,
         by(2, "book_ride"),
         {all, "pawl_idempotency_keys_created", "pawl_idempotency_keys_operation"},
         by_people,
         0},
        {&sql::search_keys_by_time,
         by(0, none),
         {all, "pawl_idempotency_keys_created"},
         by_people,
         0},
        {&sql::search_unsettled_keys,
         by(1, "open"),
         {"pawl_idempotency_keys_open", "pawl_attention", all},
         by_people,
         0},
    };
}

}  // namespace pawl::plans
