#pragma once

#include <cstddef>
#include <initializer_list>
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

namespace detail {

// Behind the string, quoted name or comment that begins at `at`; `at` itself where none does.
constexpr std::size_t past_quiet(std::string_view text, std::size_t at) {
    const auto past = [&](std::string_view end, std::size_t from) {
        const auto found = text.find(end, from);
        return found == text.npos ? text.size() : found + end.size();
    };
    if (text[at] == '\'') return past("'", at + 1);
    if (text[at] == '"') return past("\"", at + 1);
    if (text.substr(at, 2) == "--") return past("\n", at + 2);
    if (text.substr(at, 2) == "/*") return past("*/", at + 2);
    return at;
}

// The highest n of `$n`, as tools/embed_sql reads it.
constexpr int parameters_in(std::string_view text) {
    int highest = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (const auto past = past_quiet(text, i); past != i) {
            i = past;
        } else if (text[i++] == '$') {
            int n = 0;
            for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
                n = n * 10 + (text[i] - '0');
            if (n > highest) highest = n;
        }
    }
    return highest;
}

// Says that tools/embed_sql has counted the parameters already.
struct Counted {};
inline constexpr Counted counted{};

// Its name is the compiler's message: not constexpr, so that no constant expression gets past it.
void statement_n_must_have_as_many_parameters_in_its_text();

}  // namespace detail

// With the number of its parameters, so that a text with another number, or a call with too few or
// too many arguments, does not compile. `static constexpr`: its texts are constants.
template <int Parameters>
struct Statement : Sql {
    consteval Statement(
        std::string_view name_, std::string_view sqlite_, std::string_view postgres_
    )
        : Sql{name_, sqlite_, postgres_} {
        for (const auto text : {sqlite_, postgres_})
            if (!text.empty() && detail::parameters_in(text) != Parameters)
                detail::statement_n_must_have_as_many_parameters_in_its_text();
    }
    consteval Statement(
        detail::Counted,
        std::string_view name_,
        std::string_view sqlite_,
        std::string_view postgres_
    )
        : Sql{name_, sqlite_, postgres_} {}
    static_assert(Parameters <= 32, "pawl: a statement has at most 32 parameters");
    static constexpr int parameters = Parameters;
};
}  // namespace pawl
