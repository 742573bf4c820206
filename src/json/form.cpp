#include "src/json/form.hpp"

#include "src/base/text.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace pawl::json {

namespace {

// nullopt: a broken escape.
std::optional<std::string> decoded(std::string_view text) {
    const auto checked = boost::urls::make_pct_string_view(text);
    if (!checked) return std::nullopt;
    boost::urls::encoding_opts options;
    options.space_as_plus = true;
    return checked->decode(options);
}

// Why a decoded text is refused; empty: it is not.
std::string_view fault(std::string_view text) {
    if (!base::is_utf8(text)) return "Is not UTF-8.";
    if (text.find('\0') != text.npos) return "Holds the character U+0000.";
    return {};
}

// The problem's field is only set to a valid name.
DecodeProblem problem(std::string_view name, std::string_view why) {
    return {.field = base::excerpt(name), .why = std::string{why}};
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
        out += boost::urls::encode(pair.name, boost::urls::unreserved_chars);
        out.push_back('=');
        out += boost::urls::encode(pair.value, boost::urls::unreserved_chars);
    }
    return out;
}

std::variant<std::string, DecodeProblem> canonical_pairs(std::string_view text) {
    auto pairs = parse_pairs(text);
    if (auto* bad = std::get_if<DecodeProblem>(&pairs)) return std::move(*bad);
    return canonical(std::move(std::get<0>(pairs)));
}

}  // namespace pawl::json
