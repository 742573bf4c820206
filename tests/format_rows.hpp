#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace pawl::testing {

// A member of another side's format that turns a meaning, as docs/howto/foreign_formats.md shows
// it. The test beside the reader has a value of each that is not handled.
struct FormatRow {
    std::string_view member;
    std::string_view handled;
    std::string_view otherwise;
    std::string_view value{};  // Not handled.
};

inline std::string rows_of(std::span<const FormatRow> rows) {
    std::string text;
    for (const auto& row : rows) {
        text.append("| `").append(row.member).append("` | ").append(row.handled);
        text.append(" | ").append(row.otherwise).append(" |\n");
    }
    return text;
}

// Empty, or the rows that the page must have as one table.
inline std::string missing_rows(std::span<const FormatRow> rows) {
    std::ifstream in{PAWL_SOURCE_DIR "/docs/howto/foreign_formats.md"};
    const std::string page{std::istreambuf_iterator<char>{in}, {}};
    const auto wanted = rows_of(rows);
    return page.find("|---|---|---|\n" + wanted + "\n") == page.npos ? wanted : "";
}

// The page has the rows, and `end_of` a row, whose member has the value, is its `otherwise`.
template <class EndOf>
void expect_read_as_documented(std::span<const FormatRow> rows, EndOf end_of) {
    EXPECT_EQ(missing_rows(rows), "");
    for (const auto& row : rows) EXPECT_EQ(end_of(row), row.otherwise) << row.member;
}

}  // namespace pawl::testing
