// Equal canonical texts mean equal values, and equal values have equal canonical texts, however
// they are spelled.

#include <pawl/detail/json.hpp>

#include "src/json/document.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

namespace pawl::json::canonical_property_test {

namespace {

// long double holds every int64, uint64 and double exactly.
struct Model;
using List = std::vector<Model>;
using Object = std::map<std::string, Model>;
struct Number {
    long double value;
    std::vector<std::string> spellings;
};
struct Model {
    std::variant<std::nullptr_t, bool, Number, std::string, List, Object> of{nullptr};
};

bool same(const Model& a, const Model& b);
bool same(std::nullptr_t, std::nullptr_t) {
    return true;
}
bool same(bool a, bool b) {
    return a == b;
}
bool same(const Number& a, const Number& b) {
    return a.value == b.value;
}
bool same(const std::string& a, const std::string& b) {
    return a == b;
}
bool same(const List& a, const List& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Model& x, const Model& y) {
        return same(x, y);
    });
}
bool same(const Object& a, const Object& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && same(x.second, y.second);
    });
}
bool same(const Model& a, const Model& b) {
    if (a.of.index() != b.of.index()) return false;
    return std::visit(
        [&b](const auto& value) {
            return same(value, std::get<std::remove_cvref_t<decltype(value)>>(b.of));
        },
        a.of
    );
}

Number whole(std::int64_t value) {
    auto text = std::to_string(value);
    Number number{static_cast<long double>(value), {text}};
    if (std::abs(static_cast<long double>(value)) < 9e15L)
        for (auto* tail : {".0", "e0", "E+0", ".00e00", ".0e-0"})
            number.spellings.push_back(text + tail);
    if (value != 0 && number.spellings.size() > 1) number.spellings.push_back(text + "0e-1");
    return number;
}

Number natural(std::uint64_t value) {
    return {static_cast<long double>(value), {std::to_string(value)}};
}

// Whole numbers of 64 bits must have all their digits.
Number real(double value) {
    const bool all_digits =
        std::trunc(value) == value && value >= -9223372036854775808.0 && value < 0x1p64;
    char text[64];
    if (all_digits) {
        std::snprintf(text, sizeof text, "%.1f", value);
        Number number{value, {text}};
        std::snprintf(text, sizeof text, "%.3fE+0", value);
        number.spellings.emplace_back(text);
        return number;
    }
    std::snprintf(text, sizeof text, "%.16e", value);
    Number number{value, {text}};
    std::snprintf(text, sizeof text, "%.16E", value);
    number.spellings.emplace_back(text);
    return number;
}

// A decimal with that many significant digits; the first and the last are not zero.
struct Decimal {
    std::string digits;
    int power{};
    std::string text() const { return digits + "e" + std::to_string(power); }
};
Decimal decimal_of(int digits_max) {
    const auto count = *rc::gen::inRange(1, digits_max + 1);
    std::string digits;
    for (int i = 0; i < count; ++i)
        digits += static_cast<char>('0' + *rc::gen::inRange(i == 0 || i == count - 1 ? 1 : 0, 10));
    return {digits, *rc::gen::inRange(-60, 60)};
}

// A whole number from 2^53 on is refused if its double differs, however few digits it has.
bool may_be_refused(const Decimal& decimal) {
    const int size = static_cast<int>(decimal.digits.size());
    const int whole_digits = decimal.power > 0 ? size + decimal.power : 0;
    return size > 15 || (whole_digits > 15 && whole_digits <= 20);
}

// Where doubles and 64-bit whole numbers overlap.
const std::vector<Number>& meeting() {
    static const std::vector<Number> all = {
        whole(0),
        real(-0.0),
        whole(1),
        real(1),
        whole(9'007'199'254'740'992),
        whole(9'007'199'254'740'993),
        real(9007199254740992.0),
        real(9007199254740991.0),
        whole(9'007'199'254'740'991),
        natural(12'345'678'901'234'567'168U),
        natural(12'345'678'901'234'567'000U),
        real(12345678901234567168.0),
        natural(18'446'744'073'709'551'615U),
        real(18446744073709551616.0),
        real(18446744073709549568.0),
        natural(18'446'744'073'709'549'568U),
        whole(std::numeric_limits<std::int64_t>::min()),
        real(-9223372036854775808.0),
        whole(std::numeric_limits<std::int64_t>::max()),
        real(9223372036854775808.0),
        natural(9'223'372'036'854'775'808U),
        real(-9223372036854777856.0),
        real(1e21),
        real(1e-7)};
    return all;
}

rc::Gen<Number> numbers() {
    return rc::gen::oneOf(
        rc::gen::elementOf(meeting()),
        rc::gen::map(rc::gen::inRange<std::int64_t>(-3, 4), whole),
        rc::gen::map(rc::gen::arbitrary<std::int64_t>(), whole),
        rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), natural),
        rc::gen::map(
            rc::gen::suchThat(
                rc::gen::arbitrary<double>(), [](double d) { return std::isfinite(d); }
            ),
            real
        )
    );
}

rc::Gen<std::string> texts() {
    const std::vector<std::string> characters = {
        "a",
        "b",
        "\"",
        "\\",
        "/",
        "\n",
        "\x01",
        "\x7F",
        "é",
        "\u20ac",
        "\uFB33",
        "\U0001F600",
        std::string(1, '\0')};
    return rc::gen::map(
        rc::gen::resize(
            4, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(characters))
        ),
        [](const std::vector<std::string>& parts) {
            std::string all;
            for (const auto& part : parts) all += part;
            return all;
        }
    );
}

Model any_model(int depth) {
    switch (*rc::gen::inRange(0, depth > 0 ? 6 : 4)) {
        case 0:
            return {nullptr};
        case 1:
            return {*rc::gen::arbitrary<bool>()};
        case 2:
            return {*numbers()};
        case 3:
            return {*texts()};
        case 4:
            break;
        default: {
            Object object;
            for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
                object[*texts()] = any_model(depth - 1);
            return {object};
        }
    }
    List list;
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) list.push_back(any_model(depth - 1));
    return {list};
}

// Writes a model in one of its many spellings.
class Speller {
public:
    explicit Speller(unsigned seed) : random_{seed} {}

    std::string spell(const Model& model) {
        return space() + std::visit([this](const auto& value) { return write(value); }, model.of) +
               space();
    }

private:
    std::size_t below(std::size_t n) { return random_() % n; }
    std::string space() { return std::vector<std::string>{"", " ", "\n\t", "\r"}[below(4)]; }

    std::string write(std::nullptr_t) { return "null"; }
    std::string write(bool value) { return value ? "true" : "false"; }
    std::string write(const Number& number) {
        return number.spellings[below(number.spellings.size())];
    }
    std::string write(const std::string& text) {
        std::string out = "\"";
        for (char c : text) {
            bool must = c == '"' || c == '\\' || (c >= 0 && c < 0x20);
            if (must || (c > 0 && below(3) == 0)) {
                char escape[8];
                std::snprintf(
                    escape,
                    sizeof escape,
                    below(2) == 0 ? "\\u%04x" : "\\u%04X",
                    static_cast<unsigned>(c)
                );
                out += escape;
            } else {
                out += c;
            }
        }
        return out + "\"";
    }
    std::string write(const List& list) {
        std::string out = "[";
        for (const auto& item : list) out.append(out.size() > 1 ? "," : "").append(spell(item));
        return out + (list.empty() ? space() : "") + "]";
    }
    std::string write(const Object& object) {
        std::vector<std::string> members;
        for (const auto& [name, value] : object)
            members.push_back(space() + write(name) + space() + ":" + spell(value));
        std::shuffle(members.begin(), members.end(), random_);
        std::string out = "{";
        for (const auto& member : members) out.append(out.size() > 1 ? "," : "").append(member);
        return out + "}";
    }

    std::minstd_rand random_;
};

std::string canonical_of(const Model& model, unsigned seed) {
    auto json = Speller{seed}.spell(model);
    auto text = canonical_text(json);
    if (auto* problem = std::get_if<DecodeProblem>(&text))
        return json + " refused: " + problem->field + ": " + problem->why;
    return std::get<std::string>(text);
}

std::string canonical_of(const Model& model) {
    return canonical_of(model, *rc::gen::arbitrary<unsigned>());
}

struct Point {
    std::int64_t a{};
    std::uint64_t b{};
    double c{};
    std::string d{};
    std::optional<std::string> e{};
    std::vector<double> f{};
    bool operator==(const Point&) const = default;
};

double finite() {
    return *rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double d) {
        return std::isfinite(d);
    });
}

}  // namespace

RC_GTEST_PROP(Canonical, every_spelling_of_a_value_has_one_text, ()) {
    auto model = any_model(3);

    RC_ASSERT(canonical_of(model) == canonical_of(model));
}

RC_GTEST_PROP(Canonical, texts_are_equal_exactly_if_the_values_are, ()) {
    auto a = any_model(1);
    auto b = any_model(1);

    RC_ASSERT((canonical_of(a) == canonical_of(b)) == same(a, b));
}

TEST(Canonical, numbers_have_equal_texts_exactly_if_they_are_equal) {
    for (const auto& a : meeting())
        for (const auto& b : meeting())
            for (unsigned seed = 0; seed < 8; ++seed)
                EXPECT_EQ(
                    canonical_of({a}, seed) == canonical_of({b}, seed + 8), a.value == b.value
                ) << a.spellings[0]
                  << " " << b.spellings[0];
}

// Issue 16, number 13: different amounts of money must stay different.
RC_GTEST_PROP(Canonical, decimals_of_fifteen_digits_are_kept_and_never_confused, ()) {
    const auto one = decimal_of(15);
    const auto other = decimal_of(15);

    const auto text_of_one = canonical_text(one.text());
    const auto text_of_other = canonical_text(other.text());

    RC_ASSERT(text_of_one.index() == 0U || may_be_refused(one));
    RC_ASSERT(text_of_other.index() == 0U || may_be_refused(other));
    if (text_of_one.index() != 0U || text_of_other.index() != 0U) return;
    const bool same_number = one.digits == other.digits && one.power == other.power;
    RC_ASSERT((std::get<0>(text_of_one) == std::get<0>(text_of_other)) == same_number);
}

// The stored value, rounded to as many digits as an accepted number has, is that number.
RC_GTEST_PROP(Canonical, a_decimal_that_is_accepted_can_be_given_back, ()) {
    const auto sent = decimal_of(25);
    const auto text = canonical_text(sent.text());
    if (text.index() != 0) {
        RC_ASSERT(may_be_refused(sent));
        return;
    }
    const auto neighbour = [&](char last) {
        auto changed = sent;
        changed.digits.back() = last;
        return canonical_text(changed.text());
    };

    const char last = sent.digits.back();
    const auto above = neighbour(last == '9' ? '8' : static_cast<char>(last + 1));

    RC_ASSERT((above.index() != 0 || std::get<0>(above) != std::get<0>(text)));
}

RC_GTEST_PROP(Canonical, no_value_is_refused, ()) {
    auto text = canonical_text(Speller{*rc::gen::arbitrary<unsigned>()}.spell(any_model(3)));

    RC_ASSERT(text.index() == 0U);
}

RC_GTEST_PROP(Canonical, a_canonical_text_is_its_own, ()) {
    auto text = canonical_of(any_model(3));

    RC_ASSERT(std::get<std::string>(canonical_text(text)) == text);
}

RC_GTEST_PROP(Parse, any_bytes_are_a_value_or_a_problem, (const std::string& bytes)) {
    auto text = canonical_text("[" + bytes + "]");

    RC_ASSERT((text.index() == 0 || !std::get<DecodeProblem>(text).why.empty()));
}

RC_GTEST_PROP(Encode, what_is_encoded_is_decoded, ()) {
    Point point{
        .a = *rc::gen::arbitrary<std::int64_t>(),
        .b = *rc::gen::arbitrary<std::uint64_t>(),
        .c = finite(),
        .d = *texts(),
        .e = *rc::gen::maybe(texts()) ? std::optional{*texts()} : std::nullopt,
        .f = {finite(), std::ldexp(finite(), 60), 1.0}};
    point.f.erase(
        std::remove_if(point.f.begin(), point.f.end(), [](double d) { return !std::isfinite(d); }),
        point.f.end()
    );

    RC_ASSERT(std::get<Point>(detail::decode<Point>(detail::encode(point))) == point);
}

}  // namespace pawl::json::canonical_property_test
