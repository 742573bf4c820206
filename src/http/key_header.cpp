#include "src/http/key_header.hpp"

#include <optional>

namespace pawl::http {

namespace {

constexpr std::size_t key_max = 255;

std::optional<std::string> problem_of(std::string_view key) {
    if (key.empty()) return "The key is empty.";
    if (key.size() > key_max) return "The key has more than 255 characters.";
    for (const char c : key) {
        if (c == ',') return "A request has one key, not a list.";
        if (c == ';') return "A key has no parameters.";
        if (c == '"' || c == '\\') return "A key has no quotation marks or backslashes.";
        if (c <= ' ' || c > '~') return "A key consists of visible ASCII characters.";
    }
    return std::nullopt;
}

}  // namespace

KeyHeader key_of(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    const auto key = quoted ? text.substr(1, text.size() - 2) : text;
    if (auto why = problem_of(key)) return KeyProblem{std::move(*why)};
    return std::string{key};
}

KeyHeader key_header(const RequestHead& head) {
    const int count = head.count("Idempotency-Key");
    if (count == 0) return NoKey{};
    if (count > 1) return KeyProblem{"The request has more than one Idempotency-Key header."};
    return key_of(*head.header("Idempotency-Key"));
}

}  // namespace pawl::http
