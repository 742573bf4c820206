#include "src/engine/response_rule.hpp"

#include "src/base/text.hpp"
#include "src/core/ascii.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace pawl::engine {

namespace {

// The stored name, in the spelling that readers of stored headers expect; nullptr: not stored.
const std::string_view* stored_name(const Header& header) {
    static constexpr std::array<std::string_view, 4> names{
        "Content-Language", "Location", "ETag", "Link"};
    const auto* at = std::find_if(names.begin(), names.end(), [&](auto name) {
        return core::same_without_case(name, header.name);
    });
    return at == names.end() ? nullptr : at;
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return (c >= 0 && c < 32) || c == 127;
    });
}

bool is_text(std::string_view text) {
    return base::is_utf8(text) && text.find('\0') == text.npos;
}

}  // namespace

Response checked_response(Response response, Bytes bytes) {
    if (response.status < 200 || response.status > 599)
        throw std::invalid_argument{
            "a response has a status from 200 to 599, not " + std::to_string(response.status)};
    if (response.body.size() > response_body_max)
        throw std::invalid_argument{
            "a response has at most 1 MiB of body to be stored, not " +
            std::to_string(response.body.size()) + " bytes"};
    // PostgreSQL stores only such text. Without this check a test on SQLite would pass, and
    // production would fail after a charge.
    const bool stored = bytes == Bytes::text;
    if (stored && (!is_text(response.body) || !is_text(response.content_type)))
        throw std::invalid_argument{
            "a response to be stored is UTF-8 without NUL: other bytes in base64, or by a link"};
    if (has_control(response.content_type))
        throw std::invalid_argument{"a content type has a control character"};
    std::vector<Header> kept;
    for (auto& header : response.headers) {
        const auto* name = stored_name(header);
        if (name == nullptr) continue;
        if (has_control(header.value))
            throw std::invalid_argument{"the header " + header.name + " has a control character"};
        if (stored && !is_text(header.value))
            throw std::invalid_argument{"the header " + header.name + " is not UTF-8"};
        kept.push_back({std::string{*name}, std::move(header.value)});
    }
    response.headers = std::move(kept);
    return response;
}

}  // namespace pawl::engine
