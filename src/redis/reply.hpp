#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redis {

// An answer of Redis. An error is one, too: of a pipeline some commands fail and others do not.
struct Reply {
    enum class Kind { nil, integer, text, list, error };
    Kind kind{Kind::nil};
    std::int64_t integer{};
    std::string text;  // Of an error, too: "WRONGTYPE Operation against ...".
    std::vector<Reply> items;

    bool is_nil() const { return kind == Kind::nil; }
    bool is_error() const { return kind == Kind::error; }
};

// What CONFIG GET answers: a name and a value. Nothing of a name that this Redis does not know, or
// does not tell.
inline std::optional<std::string> setting_of(const Reply& reply) {
    if (reply.is_error() || reply.items.size() != 2) return std::nullopt;
    return reply.items[1].text;
}

using Command = std::vector<std::string>;

}  // namespace pawl::redis
