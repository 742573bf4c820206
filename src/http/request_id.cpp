#include "src/http/request_id.hpp"

#include "src/base/random.hpp"

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

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == text.npos;
}

// W3C Trace Context: 00-TRACE-PARENT-FLAGS. Empty: there is none.
std::string_view trace_of(std::string_view traceparent) {
    constexpr std::size_t from = 3;
    constexpr std::size_t length = 32;
    if (traceparent.size() != 55 || !traceparent.starts_with("00-")) return {};
    const auto trace = traceparent.substr(from, length);
    const bool none = trace.find_first_not_of('0') == trace.npos;
    return is_hex(trace) && !none && traceparent[from + length] == '-' ? trace : std::string_view{};
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
    const auto trace = trace_of(head.header("traceparent").value_or(""));
    return trace.empty() ? made_id() : std::string{trace};
}

}  // namespace pawl::http
