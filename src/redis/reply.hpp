#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redis {

// A reply of Redis. An error is one, too: of a pipeline only some commands may fail.
struct Reply {
    enum class Kind { nil, integer, text, list, error };
    Kind kind{Kind::nil};
    std::int64_t integer{};
    std::string text;  // Also an error's text: "WRONGTYPE Operation against ...".
    std::vector<Reply> items;

    bool is_nil() const { return kind == Kind::nil; }
    bool is_error() const { return kind == Kind::error; }
};

enum class Shape {
    any,
    integer,
    two_integers,
    integers,
    texts,
    two_texts,
    pairs,           // Texts, an even number of them.
    text_pairs,      // A text, and a list of pairs.
    time_pairs_time  // A text, a list of pairs, and a text.
};
bool has_shape(const Reply& reply, Shape shape) noexcept;

// The value in a reply to CONFIG GET; nullopt: this Redis does not know or show the setting.
inline std::optional<std::string> setting_of(const Reply& reply) {
    if (reply.is_error() || reply.items.size() != 2) return std::nullopt;
    return reply.items[1].text;
}

using Command = std::vector<std::string>;

}  // namespace pawl::redis
