#include "src/http/key_header.hpp"

#include "src/core/key_text.hpp"

namespace pawl::http {

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
    return key_of(*head.header("Idempotency-Key"));
}

}  // namespace pawl::http
