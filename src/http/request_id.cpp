#include "src/http/request_id.hpp"

#include "src/base/random.hpp"
#include "src/core/ascii.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace pawl::http {

namespace {

constexpr std::size_t length_max = 64;

// A client may use its key as the id of the request: the logs never have a key.
bool is_sane(std::string_view id, const RequestHead& head) {
    const auto key = head.header("Idempotency-Key").value_or("");
    return !id.empty() && id.size() <= length_max &&
           std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; }) &&
           key.find(id) == key.npos;
}

// The same random start for all requests of a process, and their number: no call of the system.
std::string made_id() {
    static const std::string start = base::random_hex(base::system_random(), 12) + '-';
    static std::atomic<std::uint64_t> count{0};
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), ++count, 16).ptr;
    return start + std::string(digits.data(), end);
}

}  // namespace

std::string request_id_of(const RequestHead& head) {
    const auto given = head.header("X-Request-Id").value_or("");
    if (is_sane(given, head)) return std::string{given};
    const auto caller = caller_of(head);
    return caller ? std::string{caller->trace_id()} : made_id();
}

std::optional<core::TraceContext> caller_of(const RequestHead& head) {
    const auto parent = head.header("traceparent");
    if (!parent) return std::nullopt;
    std::string state;  // It may have several lines (RFC 9110, 5.3).
    for (const auto& [name, value] : head.headers)
        if (core::same_without_case(name, "tracestate")) state.append(value).append(",");
    return core::TraceContext::from_headers(*parent, state);
}

}  // namespace pawl::http
