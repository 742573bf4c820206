#include "src/json/form.hpp"

#include "src/json/text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pawl::json {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// nullopt: a broken escape.
std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            out.push_back(' ');
        } else if (text[i] != '%') {
            out.push_back(text[i]);
        } else {
            int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            out.push_back(static_cast<char>(high * 16 + low));
            i += 2;
        }
    }
    return out;
}

bool unreserved(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view text) {
    constexpr std::string_view digit = "0123456789ABCDEF";
    for (char c : text) {
        if (unreserved(c)) {
            out.push_back(c);
        } else {
            auto byte = static_cast<unsigned char>(c);
            out.append({'%', digit[byte >> 4U], digit[byte & 0xFU]});
        }
    }
}

// Why a decoded text is refused; empty: it is not.
std::string_view fault(std::string_view text) {
    if (!is_utf8(text)) return "Is not UTF-8.";
    if (text.find('\0') != text.npos) return "Holds the character U+0000.";
    return {};
}

// The problem's field is only set to a valid name.
DecodeProblem problem(std::string_view name, std::string_view why) {
    return {.field = excerpt(name), .why = std::string{why}};
}

std::variant<Pair, DecodeProblem> parse_pair(std::string_view text) {
    auto equals = text.find('=');
    auto name = decoded(text.substr(0, equals));
    if (!name) return problem({}, "A name has a broken % escape.");
    if (name->empty()) return problem({}, "A field without a name.");
    if (auto why = fault(*name); !why.empty()) return problem({}, why);
    auto value = decoded(equals == text.npos ? std::string_view{} : text.substr(equals + 1));
    if (!value) return problem(*name, "Has a broken % escape.");
    if (auto why = fault(*value); !why.empty()) return problem(*name, why);
    return Pair{.name = std::move(*name), .value = std::move(*value)};
}

}  // namespace

std::variant<std::vector<Pair>, DecodeProblem> parse_pairs(std::string_view text) {
    std::vector<Pair> pairs;
    bool more = !text.empty();
    while (more) {
        auto end = text.find('&');
        auto pair = parse_pair(text.substr(0, end));
        if (auto* bad = std::get_if<DecodeProblem>(&pair)) return std::move(*bad);
        if (pairs.size() == pairs_max) return problem({}, "More than 100 fields.");
        pairs.push_back(std::move(std::get<Pair>(pair)));
        more = end != text.npos;
        if (more) text.remove_prefix(end + 1);
    }
    return pairs;
}

std::string canonical(std::vector<Pair> pairs) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.name < b.name;
    });
    std::string out;
    for (const Pair& pair : pairs) {
        if (!out.empty()) out.push_back('&');
        append_encoded(out, pair.name);
        out.push_back('=');
        append_encoded(out, pair.value);
    }
    return out;
}

std::variant<std::string, DecodeProblem> canonical_pairs(std::string_view text) {
    auto pairs = parse_pairs(text);
    if (auto* bad = std::get_if<DecodeProblem>(&pairs)) return std::move(*bad);
    return canonical(std::move(std::get<0>(pairs)));
}

}  // namespace pawl::json
