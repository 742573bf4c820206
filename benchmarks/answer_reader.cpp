#include "benchmarks/answer_reader.hpp"

#include <charconv>

namespace pawl::bench {

namespace {

std::optional<std::size_t> number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::string_view> header(std::string_view head, std::string_view name_with_colon) {
    auto at = head.find(name_with_colon);
    if (at == head.npos) return std::nullopt;
    at += name_with_colon.size();
    return head.substr(at, head.find("\r\n", at) - at);
}

}  // namespace

std::optional<AnswerSeen> read_answer(std::string_view bytes) {
    constexpr AnswerSeen none{.status = -1};
    const auto head_end = bytes.find("\r\n\r\n");
    if (head_end == bytes.npos) return std::nullopt;
    const auto head = bytes.substr(0, head_end + 2);
    constexpr std::string_view version = "HTTP/1.1 ";
    if (head.substr(0, version.size()) != version) return none;
    const auto status = number(head.substr(version.size(), 3));
    const auto length = number(header(head, "\r\nContent-Length: ").value_or(""));
    if (!status || !length) return none;
    const auto size = head_end + 4 + *length;
    if (bytes.size() < size) return std::nullopt;
    return AnswerSeen{
        .status = static_cast<int>(*status),
        .replayed = header(head, "\r\nIdempotent-Replayed: ") == "true",
        .size = size,
        .body = bytes.substr(head_end + 4, *length)};
}

}  // namespace pawl::bench
