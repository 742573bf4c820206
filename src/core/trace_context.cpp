#include "src/core/trace_context.hpp"

#include "src/core/ascii.hpp"

#include <algorithm>
#include <vector>

namespace pawl::core {

namespace {

constexpr std::size_t members_max = 32;
constexpr std::size_t state_max = 512;
constexpr std::size_t long_member = 128;
constexpr std::size_t member_key_max = 256;
constexpr std::size_t member_value_max = 256;
constexpr std::string_view blank = "00-00000000000000000000000000000000-0000000000000000-00";

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == text.npos;
}

// An id of zeros is none.
bool is_id(std::string_view text) {
    return is_hex(text) && text.find_first_not_of('0') != text.npos;
}

int digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

void put_hex(char* to, std::uint64_t number) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (int i = 15; i >= 0; --i, number >>= 4U) to[i] = digits[number & 15U];
}

bool is_key(std::string_view key) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c); };
    constexpr std::string_view others = "_-*/@";
    return !key.empty() && key.size() <= member_key_max && letter(key[0]) &&
           std::ranges::all_of(key, [&](char c) {
               return letter(c) || others.find(c) != others.npos;
           });
}

// A space may not be its last character, which has been cut off.
bool is_value(std::string_view value) {
    return !value.empty() && value.size() <= member_value_max &&
           std::ranges::all_of(value, [](char c) {
               return c >= ' ' && c <= '~' && c != ',' && c != '=';
           });
}

// nullopt: malformed.
std::optional<std::vector<std::string_view>> members_of(std::string_view state) {
    std::vector<std::string_view> members;
    std::vector<std::string_view> keys;
    while (!state.empty()) {
        const auto comma = std::min(state.find(','), state.size());
        const auto member = trimmed(state.substr(0, comma));
        state.remove_prefix(std::min(comma + 1, state.size()));
        if (member.empty()) continue;
        const auto equals = std::min(member.find('='), member.size());
        const auto key = member.substr(0, equals);
        if (!is_key(key) || !is_value(member.substr(std::min(equals + 1, member.size()))))
            return std::nullopt;
        if (std::ranges::find(keys, key) != keys.end()) return std::nullopt;
        keys.push_back(key);
        members.push_back(member);
    }
    if (members.size() > members_max) return std::nullopt;
    return members;
}

std::size_t joined_size(const std::vector<std::string_view>& members) {
    std::size_t size = members.empty() ? 0 : members.size() - 1;
    for (const auto member : members) size += member.size();
    return size;
}

}  // namespace

std::string limited_tracestate(std::string_view tracestate) {
    auto members = members_of(tracestate);
    if (!members) return {};
    while (joined_size(*members) > state_max) {
        const auto large =
            std::ranges::find_if(*members, [](auto one) { return one.size() > long_member; });
        members->erase(large != members->end() ? large : members->end() - 1);
    }
    std::string text;
    for (const auto member : *members) {
        if (!text.empty()) text += ',';
        text += member;
    }
    return text;
}

std::optional<TraceContext> TraceContext::from_headers(
    std::string_view traceparent, std::string_view tracestate
) {
    if (traceparent.size() < length) return std::nullopt;
    const auto version = traceparent.substr(0, 2);
    const bool longer = traceparent.size() > length;
    if (longer && (version == "00" || traceparent[length] != '-')) return std::nullopt;
    const auto flags = traceparent.substr(53, 2);
    if (!is_hex(version) || version == "ff" || traceparent[2] != '-' || traceparent[35] != '-' ||
        traceparent[52] != '-' || !is_id(traceparent.substr(3, 32)) ||
        !is_id(traceparent.substr(36, 16)) || !is_hex(flags))
        return std::nullopt;
    TraceContext context;
    std::ranges::copy(blank, context.parent_.begin());
    std::ranges::copy(traceparent.substr(3, 49), context.parent_.begin() + 3);
    if ((digit(flags[1]) & 1) != 0) context.parent_[length - 1] = '1';
    context.state_ = limited_tracestate(tracestate);
    return context;
}

std::optional<TraceContext> TraceContext::from_text(std::string_view text) {
    const bool has_state = text.size() > length && text[length] == ' ';
    if (!has_state) return from_headers(text);
    return from_headers(text.substr(0, length), text.substr(length + 1));
}

TraceContext TraceContext::root(
    const std::array<std::uint64_t, 2>& trace_id, std::uint64_t span_id, double ratio
) {
    TraceContext context;
    std::ranges::copy(blank, context.parent_.begin());
    // An id of zeros is none.
    put_hex(context.parent_.data() + 3, trace_id[0]);
    put_hex(context.parent_.data() + 19, trace_id[0] == 0 && trace_id[1] == 0 ? 1 : trace_id[1]);
    put_hex(context.parent_.data() + 36, span_id == 0 ? 1 : span_id);
    // Of the last 56 bits, which level 2 of the specification wants to be random, those that a
    // double holds.
    const auto bits = (trace_id[1] & ((std::uint64_t{1} << 56U) - 1)) >> 3U;
    if (static_cast<double>(bits) * 0x1.0p-53 < ratio) context.parent_[length - 1] = '1';
    return context;
}

TraceContext TraceContext::child(std::uint64_t span_id) const {
    auto context = *this;
    put_hex(context.parent_.data() + 36, span_id == 0 ? 1 : span_id);
    return context;
}

std::string TraceContext::text() const {
    std::string text{traceparent()};
    return state_.empty() ? text : text + ' ' + state_;
}

}  // namespace pawl::core
