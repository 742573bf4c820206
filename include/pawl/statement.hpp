#pragma once

#include <string_view>

namespace pawl {

// A named statement as it stands in a .sql file; tools/embed_sql makes these. The name is what
// logs, errors and metrics say. An empty text: this store has no such statement, and the start of
// the service says so.
struct Sql {
    std::string_view name;
    std::string_view sqlite;
    std::string_view postgres;
};

// With the number of its parameters, so that a call with too few or too many arguments does not
// compile.
template <int Parameters>
struct Statement : Sql {
    constexpr Statement(
        std::string_view name_, std::string_view sqlite_, std::string_view postgres_
    )
        : Sql{name_, sqlite_, postgres_} {}
    static_assert(Parameters <= 32, "pawl: a statement has at most 32 parameters");
    static constexpr int parameters = Parameters;
};

namespace detail {

// The highest n of `$n` outside quotes.
constexpr int parameters_in(std::string_view text) {
    int highest = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\'') quoted = !quoted;
        if (quoted || text[i] != '$') continue;
        int n = 0;
        for (std::size_t j = i + 1; j < text.size() && text[j] >= '0' && text[j] <= '9'; ++j)
            n = n * 10 + (text[j] - '0');
        if (n > highest) highest = n;
    }
    return highest;
}

}  // namespace detail
}  // namespace pawl
