// Two JSON bodies have the same fingerprint if and only if they mean the same: order of members,
// white space, escapes, and 1 for 1.0 make no difference; all else does. Only bodies that are
// inexact, too deep or repeat a member are refused.
//
// The input is one document, or two with a line "&" between them. From each accepted one, the
// fuzzer makes others with the same meaning, and others with a different one.

#include "src/json/fingerprint.hpp"

#include "src/json/document.hpp"
#include "src/json/form.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/spelling.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <optional>
#include <variant>

namespace {

using namespace pawl;
using boost::json::value;

// The x86-64 type holds every int64, uint64 and double exactly.
static_assert(std::numeric_limits<long double>::digits >= 64);
std::optional<long double> number_of(const value& v) {
    if (const auto* i = v.if_int64()) return *i;
    if (const auto* u = v.if_uint64()) return *u;
    if (const auto* d = v.if_double()) return *d;
    return std::nullopt;
}

bool say_the_same(const value& a, const value& b) {
    if (const auto x = number_of(a)) return x == number_of(b);
    if (a.kind() != b.kind()) return false;
    if (a.is_array())
        return std::equal(
            a.get_array().begin(),
            a.get_array().end(),
            b.get_array().begin(),
            b.get_array().end(),
            say_the_same
        );
    if (!a.is_object()) return a == b;
    const auto& other = b.get_object();
    return a.get_object().size() == other.size() &&
           std::all_of(a.get_object().begin(), a.get_object().end(), [&](const auto& member) {
               const auto* found = other.if_contains(member.key());
               return found != nullptr && say_the_same(member.value(), *found);
           });
}

json::Digest fingerprint_of(std::string_view body) {
    const auto made = json::fingerprint(
        "a secret of thirty-two characters",
        {.method = "POST",
         .route = "/rides",
         .path_parameters = {},
         .query = {},
         .content_type = "application/json",
         .body = body}
    );
    return std::get<json::Digest>(made);
}

struct Body {
    std::string_view text;
    value parsed;
    std::string canonical;
};

void check_pair(const Body& a, std::string_view text) {
    const auto parsed = json::parse(text);
    PAWL_ASSERT(parsed.index() == 0);
    const bool same = say_the_same(a.parsed, std::get<value>(parsed));
    PAWL_ASSERT(same == (a.canonical == json::canonical(std::get<value>(parsed))));
    PAWL_ASSERT(same == (fingerprint_of(a.text) == fingerprint_of(text)));
}

std::optional<Body> accepted(std::string_view text) {
    const auto faults = fuzz::faults_of(text);
    auto parsed = json::parse(text);
    if (auto* problem = std::get_if<DecodeProblem>(&parsed)) {
        PAWL_ASSERT(!problem->why.empty());
        PAWL_ASSERT(!faults || faults->any());
        return std::nullopt;
    }
    PAWL_ASSERT(faults && !faults->too_deep && !faults->twice);
    PAWL_ASSERT(!faults->rounded && !faults->halved);
    auto canonical = json::canonical(std::get<value>(parsed));
    return Body{text, std::move(std::get<value>(parsed)), std::move(canonical)};
}

void check_spellings(const Body& body, fuzz::Dice& dice) {
    PAWL_ASSERT(std::get<std::string>(json::canonical_text(body.canonical)) == body.canonical);
    const auto spelled = fuzz::spelled_anew(body.text, dice);
    const auto again = json::canonical_text(spelled);
    PAWL_ASSERT(again.index() == 0);
    PAWL_ASSERT(std::get<std::string>(again) == body.canonical);
    check_pair(body, spelled);
    const auto other = fuzz::with_another_value(body.text, dice);
    if (json::parse(other).index() == 0) check_pair(body, other);
    const auto listed = json::canonical_text("[" + std::string{body.text} + "]");
    if (listed.index() == 0)
        PAWL_ASSERT(std::get<std::string>(listed) == "[" + body.canonical + "]");
}

// The same for a form: pairs with one name keep their order, all else is unchanged.
void check_form(std::string_view text) {
    const auto canonical = json::canonical_pairs(text);
    if (canonical.index() != 0) return;
    const auto& once = std::get<std::string>(canonical);
    PAWL_ASSERT(std::get<std::string>(json::canonical_pairs(once)) == once);
    auto pairs = std::get<0>(json::parse_pairs(text));
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    PAWL_ASSERT(pairs == std::get<0>(json::parse_pairs(once)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::text_of(data, size);
    const auto [first, second] = fuzz::cut_at(bytes, "\n&\n");
    fuzz::Dice dice{bytes};
    const auto a = accepted(first);
    const auto b = accepted(second);
    if (a) check_spellings(*a, dice);
    if (b) check_spellings(*b, dice);
    if (a && b) check_pair(*a, b->text);
    check_form(first);
    return 0;
}
