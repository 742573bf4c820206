#include "src/store/damaged_row.hpp"

#include <algorithm>

namespace pawl::store {

namespace {

constexpr std::size_t shown_max = 60;

// The stored value in readable form; empty if the store can't show it.
std::string readable(const detail::Row& row, int column) {
    try {
        if (row.is_null(column)) return "NULL";
        return std::to_string(row.integer(column));
    } catch (const StoreError&) {  // Not a number: perhaps a text.
    }
    try {
        std::string text{row.text(column).substr(0, shown_max)};
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
        );
        return "'" + text + "'";
    } catch (const StoreError&) {
        return {};
    }
}

}  // namespace

void DamagedRow::note(int column, std::string_view name) {
    damage_.columns.emplace_back(name);
    auto& problem = damage_.problem;
    if (!problem.empty()) problem += ", ";
    problem += name;
    const auto value = readable(row_, column);
    problem += value.empty() ? " can't be read" : " is " + value;
}

}  // namespace pawl::store
