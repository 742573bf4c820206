#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::queue::redis {

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

using Command = std::vector<std::string>;

}  // namespace pawl::queue::redis
