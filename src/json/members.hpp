#pragma once

// Foreign JSON, changed in one place and unchanged in all others: the members of an object and the
// items of a list keep their bytes. Values that doubles would change (2^64, 1e22, 0.10, a number of
// thirty digits) stay intact. Internal.
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
// JSON by RFC 8259, in UTF-8, of at most `levels` levels. Unlike parse() it accepts duplicate
// names, numbers that none of our types holds, and halves of surrogate pairs (surrogates.hpp).
bool is_json(std::string_view text, std::size_t levels = levels_max);

// An object, in its order. Of duplicate names the last one counts, as in Ruby and JavaScript.
class Members {
public:
    // The value's bytes; nullopt: no such name, or null.
    std::optional<std::string_view> find(std::string_view name) const;
    // `value` is JSON. It replaces the old one, or is appended.
    void set(std::string_view name, std::string value);
    void erase(std::string_view name);
    std::string text() const;

private:
    friend std::optional<Members> members_of(std::string_view text);
    struct Member {
        std::string name;
        std::string literal;  // The name as it was written, with quotes.
        std::string value;
    };
    std::vector<Member> members_;
};

std::optional<Members> members_of(std::string_view text);
// The items of a JSON list; they point into `text`. nullopt: not a list.
std::optional<std::vector<std::string_view>> items_of(std::string_view text);

// The content of a JSON string; nullopt: not a string.
std::optional<std::string> string_of(std::string_view text);
// `utf8` as a JSON string.
std::string literal_of(std::string_view utf8);

}  // namespace pawl::json
