#pragma once

// JSON of others, changed in one place and left alone in all others: the members of an object and
// the items of a list, each value the very bytes that it came as. What a round through doubles
// would change (2^64, 1e22, 0.10, a number of thirty digits) passes unharmed. Internal.
//
//   auto members = json::members_of(payload);                  // nothing: no JSON object
//   members->set("retry_count", "3");
//   std::string text = members->text();

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::json {

inline constexpr std::size_t levels_max = 256;
// JSON by RFC 8259, in UTF-8, of at most so many levels. Unlike parse() it refuses neither a name
// that comes twice nor a number that no type of ours holds.
bool is_json(std::string_view text, std::size_t levels = levels_max);

// An object, in its order. Where a name comes twice the last one counts, as in Ruby and JavaScript.
class Members {
public:
    // The value's bytes, or nothing if there is none of that name, or it is null.
    std::optional<std::string_view> find(std::string_view name) const;
    // `value` is JSON: in the place of the one that was there, or behind all.
    void set(std::string_view name, std::string value);
    void erase(std::string_view name);
    std::string text() const;

private:
    friend std::optional<Members> members_of(std::string_view text);
    struct Member {
        std::string name;
        std::string literal;  // The name as it was written, with its quotes.
        std::string value;
    };
    std::vector<Member> members_;
};

std::optional<Members> members_of(std::string_view text);
// Of a JSON list; they point into `text`.
std::optional<std::vector<std::string_view>> items_of(std::string_view text);

// What a JSON string says; nothing if `text` is none.
std::optional<std::string> string_of(std::string_view text);
// `utf8` as a JSON string.
std::string literal_of(std::string_view utf8);

}  // namespace pawl::json
