#include "src/core/media_range.hpp"

#include "src/core/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace pawl::core {

namespace {

// Cuts the text before the first `end` that is outside of quotation marks from the front of `rest`.
std::string_view cut_part(std::string_view& rest, char end) noexcept {
    bool quoted = false;
    std::size_t at = 0;
    for (; at < rest.size() && (quoted || rest[at] != end); ++at) {
        if (rest[at] == '"') quoted = !quoted;
        if (quoted && rest[at] == '\\') ++at;
    }
    const auto part = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return trimmed(part);
}

std::string_view unquoted(std::string_view value) noexcept {
    const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

// nullopt: it is no number from 0 to 1. More than three digits are read, too.
std::optional<double> parse_weight(std::string_view text) noexcept {
    double weight = 0;
    const auto* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, weight, std::chars_format::fixed);
    if (error != std::errc{} || read != end || !(weight >= 0 && weight <= 1)) return std::nullopt;
    return weight;
}

bool has_parameter(std::string_view parameters, std::string_view name, std::string_view value) {
    while (!parameters.empty()) {
        auto its = cut_part(parameters, ';');
        if (same_without_case(cut_part(its, '='), name) && same_without_case(its, value))
            return true;
    }
    return false;
}

// nullopt: the range is malformed, or does not match the type.
std::optional<Preference> match(std::string_view range, std::string_view type) noexcept {
    const auto wanted = cut_part(range, ';');
    const auto given = cut_part(type, ';');
    const auto group = given.substr(0, given.find('/') + 1);  // "text/"
    const bool in_group =
        wanted.ends_with("/*") && same_without_case(wanted.substr(0, wanted.size() - 1), group);
    Preference found{.weight = 1};
    if (same_without_case(wanted, given))
        found.specificity = 3;
    else if (wanted == "*/*")
        found.specificity = 1;
    else if (in_group)
        found.specificity = 2;
    else
        return std::nullopt;
    while (!range.empty()) {
        auto value = cut_part(range, ';');
        const auto name = cut_part(value, '=');
        if (name.empty()) continue;  // RFC 9110, 5.6.6: empty parameters are ignored.
        if (same_without_case(name, "q")) {
            const auto weight = parse_weight(value);
            if (!weight) return std::nullopt;
            found.weight = *weight;
        } else {
            if (!has_parameter(type, name, unquoted(value))) return std::nullopt;
            ++found.specificity;
        }
    }
    return found;
}

}  // namespace

Preference preference(std::string_view accept, std::string_view type) noexcept {
    Preference best;
    while (!accept.empty())
        if (const auto found = match(cut_part(accept, ','), type)) {
            const bool closer = found->specificity > best.specificity;
            if (closer || (found->specificity == best.specificity && *found > best)) best = *found;
        }
    return best.weight > 0 ? best : Preference{};
}

}  // namespace pawl::core
