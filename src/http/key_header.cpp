#include "src/http/key_header.hpp"

#include "src/core/ascii.hpp"
#include "src/core/key_text.hpp"

#include <algorithm>

namespace pawl::http {

namespace {

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

// Cuts a bare item (RFC 9651, 3.3) off: a string, or one of the other kinds, which consist of
// visible characters alone.
bool cut_bare_item(std::string_view& rest) {
    if (rest.starts_with('%')) rest.remove_prefix(1);  // A display string.
    if (rest.starts_with('"')) {
        std::size_t at = 1;
        while (at < rest.size() && rest[at] != '"') at += rest[at] == '\\' ? 2 : 1;
        if (at >= rest.size()) return false;
        rest.remove_prefix(at + 1);
        return true;
    }
    std::size_t at = 0;
    while (at < rest.size() && rest[at] > ' ' && rest[at] <= '~' &&
           std::string_view{"\",;\\"}.find(rest[at]) == std::string_view::npos)
        ++at;
    rest.remove_prefix(at);
    return at > 0;
}

// *( ";" *SP key [ "=" bare-item ] ), RFC 9651, 3.1.2.
bool are_parameters(std::string_view rest) {
    while (rest.starts_with(';')) {
        rest.remove_prefix(std::min(rest.find_first_not_of(' ', 1), rest.size()));
        if (rest.empty() || !(is_lower(rest.front()) || rest.front() == '*')) return false;
        const auto end = std::ranges::find_if_not(rest, [](char c) {
            return is_lower(c) || core::is_digit(c) ||
                   std::string_view{"_-.*"}.find(c) != std::string_view::npos;
        });
        rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
        if (!rest.starts_with('=')) continue;
        rest.remove_prefix(1);
        if (!cut_bare_item(rest)) return false;
    }
    return rest.empty();
}

// A quoted key is an item of structured fields, whose unknown parameters a reader ignores.
std::string_view without_parameters(std::string_view text) {
    const auto end = text.starts_with('"') ? text.find('"', 1) : text.npos;
    if (end == text.npos || !are_parameters(text.substr(end + 1))) return text;
    return text.substr(0, end + 1);
}

}  // namespace

KeyHeader key_of(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    const auto key = quoted ? text.substr(1, text.size() - 2) : text;
    if (auto why = core::key_problem(key)) return KeyProblem{std::move(*why)};
    return std::string{key};
}

KeyHeader key_header(const RequestHead& head) {
    const int count = head.count("Idempotency-Key");
    if (count == 0) return NoKey{};
    if (count > 1) return KeyProblem{"The request has more than one Idempotency-Key header."};
    return key_of(without_parameters(*head.header("Idempotency-Key")));
}

}  // namespace pawl::http
