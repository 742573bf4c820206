#include "src/json/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace pawl::json {

namespace {

constexpr double two_to_53 = 9'007'199'254'740'992.0;
constexpr double two_to_63 = 9'223'372'036'854'775'808.0;
constexpr double two_to_64 = 18'446'744'073'709'551'616.0;

template <class T>
std::optional<T> read(std::string_view text) {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view take_digits(std::string_view& text) {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    auto digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == any_of.npos) return false;
    text.remove_prefix(1);
    return true;
}

// Digits d1 d2 ... dk and the place n of the decimal point: 0.d1d2...dk times 10^n.
struct Decimal {
    std::string_view digits;
    int point;
};

// `buffer` holds d.ddde+xx from std::to_chars: the fewest digits that round-trip, nearest to the
// value, as ECMAScript requires. The digits are joined in place.
Decimal cut(char* begin, char* end) {
    char* mark = std::find(begin, end, 'e');
    int exponent{};
    char* power = mark + 1 + (mark[1] == '+' ? 1 : 0);
    std::from_chars(power, end, exponent);
    std::size_t count = 1;
    for (char* c = begin + 2; c < mark; ++c) begin[count++] = *c;
    return {{begin, count}, exponent + 1};
}

void append_decimal(std::string& out, Decimal number) {
    auto [digits, n] = number;
    int k = static_cast<int>(digits.size());
    auto zeros = [&out](int count) { out.append(static_cast<std::size_t>(count), '0'); };
    if (k <= n && n <= 21) {
        out.append(digits);
        zeros(n - k);
    } else if (0 < n && n <= 21) {
        out.append(digits.substr(0, static_cast<std::size_t>(n))).append(".");
        out.append(digits.substr(static_cast<std::size_t>(n)));
    } else if (-6 < n && n <= 0) {
        out.append("0.");
        zeros(-n);
        out.append(digits);
    } else {
        out.append(digits.substr(0, 1));
        if (k > 1) out.append(".").append(digits.substr(1));
        out.append(n > 0 ? "e+" : "e-").append(std::to_string(std::abs(n - 1)));
    }
}

// A whole double that can't have been rounded when it was read.
std::optional<std::int64_t> whole(double value) {
    if (std::trunc(value) != value || std::abs(value) >= two_to_53) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

bool refuse(std::string why, DecodeProblem& problem) {
    problem = {.field = {}, .why = std::move(why)};
    return false;
}

bool refuse_not_whole(double value, DecodeProblem& problem) {
    bool rounded = std::trunc(value) == value;
    return refuse(
        rounded ? "Must be written with all its digits." : "Must be a whole number.", problem
    );
}

template <class T>
bool refuse_range(T least, T most, DecodeProblem& problem) {
    return refuse(
        "Must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
            ".",
        problem
    );
}

// A type's maximum as a double rounds up to a power of two: compare before converting back.
template <class Real, class Whole>
bool fits(Whole value) {
    auto real = static_cast<Real>(value);
    constexpr auto above = std::is_signed_v<Whole> ? two_to_63 : two_to_64;
    return static_cast<double>(real) < above && static_cast<Whole>(real) == value;
}

template <class Real>
bool whole_to_real(const Number& number, Real& out, DecodeProblem& problem) {
    bool exact = std::holds_alternative<std::int64_t>(number)
                     ? fits<Real>(std::get<std::int64_t>(number))
                     : fits<Real>(std::get<std::uint64_t>(number));
    if (!exact) return refuse("Has more digits than its type holds exactly.", problem);
    out = std::holds_alternative<std::int64_t>(number)
              ? static_cast<Real>(std::get<std::int64_t>(number))
              : static_cast<Real>(std::get<std::uint64_t>(number));
    return true;
}

}  // namespace

bool is_number(std::string_view text) {
    take(text, "-");
    if (!take(text, "0") && take_digits(text).empty()) return false;
    if (take(text, ".") && take_digits(text).empty()) return false;
    if (take(text, "eE")) {
        take(text, "+-");
        if (take_digits(text).empty()) return false;
    }
    return text.empty();
}

namespace {

// The significant digits, without zeros at either end, and the exponent: 0.d1d2...dk times
// 10^point. The sign is ignored.
struct SignificantDigits {
    std::string digits;
    std::int64_t point{};
    bool operator==(const SignificantDigits&) const = default;
};

SignificantDigits significant_of(std::string_view literal) {
    take(literal, "-");
    SignificantDigits found;
    const auto whole = take_digits(literal);
    found.digits = whole;
    if (take(literal, ".")) found.digits += take_digits(literal);
    if (take(literal, "eE")) {
        take(literal, "+");
        found.point = read<std::int64_t>(literal).value_or(0);
    }
    found.point += static_cast<std::int64_t>(whole.size());
    const auto first = found.digits.find_first_not_of('0');
    if (first == found.digits.npos) return {};
    found.digits.erase(found.digits.find_last_not_of('0') + 1);
    found.digits.erase(0, first);
    found.point -= static_cast<std::int64_t>(first);
    return found;
}

// Whether `value` shows what was sent. `written` is its canonical text.
bool is_kept(std::string_view literal, double value, const std::string& written) {
    constexpr int digits_max = 17;  // Enough to distinguish every double from its neighbours.
    const auto sent = significant_of(literal);
    if (sent == significant_of(written)) return true;
    const bool all_digits = std::trunc(value) == value && value >= -two_to_63 && value < two_to_64;
    if (all_digits || sent.digits.size() > digits_max) return false;
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(
        buffer.data(),
        buffer.data() + buffer.size(),
        value,
        std::chars_format::scientific,
        static_cast<int>(sent.digits.size()) - 1
    );
    const std::string_view printed{
        buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data())};
    return sent == significant_of(printed);
}

// At most 15 digits and a point, no exponent: every double of that size keeps them (DBL_DIG), so
// the texts need not be compared.
bool is_short_decimal(std::string_view literal) {
    int digits = 0;
    bool point = false;
    for (const char c : literal) {
        if (c >= '0' && c <= '9')
            ++digits;
        else if (c == '.')
            point = true;
        else if (c != '-')
            return false;
    }
    return point && digits <= std::numeric_limits<double>::digits10;
}

}  // namespace

std::variant<Number, std::string> number_of(std::string_view literal) {
    if (is_short_decimal(literal)) return Number{*read<double>(literal)};
    bool digits_only = literal.find_first_of(".eE") == literal.npos;
    if (digits_only) {
        if (auto value = read<std::int64_t>(literal)) return Number{*value};
        if (auto value = read<std::uint64_t>(literal)) return Number{*value};
    }
    auto value = read<double>(literal);
    if (!value || std::isinf(*value)) return std::string{out_of_double};
    std::string written;
    append_number(written, *value);
    if (digits_only && written != literal)
        return "Is a whole number with more digits than can be held exactly.";
    if (!is_kept(literal, *value, written))
        return "Has more digits than are kept: it would be rounded to " + written + ".";
    return Number{*value};
}

void append_number(std::string& out, std::int64_t value) {
    std::array<char, 24> buffer{};
    auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 24> buffer{};
    auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

void append_number(std::string& out, double value) {
    if (std::trunc(value) == value && value >= -two_to_63 && value < two_to_64) {
        if (value < two_to_63) return append_number(out, static_cast<std::int64_t>(value));
        return append_number(out, static_cast<std::uint64_t>(value));
    }
    if (value < 0) out.append("-");
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(
        buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific
    );
    append_decimal(out, cut(buffer.data(), end.ptr));
}

bool to_integer(
    Number number, std::int64_t least, std::int64_t most, std::int64_t& out, DecodeProblem& problem
) {
    if (const double* real = std::get_if<double>(&number)) {
        auto value = whole(*real);
        if (!value && std::abs(*real) >= two_to_63) return refuse_range(least, most, problem);
        if (!value) return refuse_not_whole(*real, problem);
        number = *value;
    }
    const auto* value = std::get_if<std::int64_t>(&number);
    if (!value || *value < least || *value > most) return refuse_range(least, most, problem);
    out = *value;
    return true;
}

bool to_natural(Number number, std::uint64_t most, std::uint64_t& out, DecodeProblem& problem) {
    if (const double* real = std::get_if<double>(&number)) {
        auto value = whole(*real);
        if (!value && std::abs(*real) >= two_to_64)
            return refuse_range<std::uint64_t>(0, most, problem);
        if (!value) return refuse_not_whole(*real, problem);
        number = *value;
    }
    const auto* small = std::get_if<std::int64_t>(&number);
    if (small && *small < 0) return refuse_range<std::uint64_t>(0, most, problem);
    auto value = small ? static_cast<std::uint64_t>(*small) : std::get<std::uint64_t>(number);
    if (value > most) return refuse_range<std::uint64_t>(0, most, problem);
    out = value;
    return true;
}

bool to_real(Number number, double& out, DecodeProblem& problem) {
    const double* real = std::get_if<double>(&number);
    if (!real) return whole_to_real(number, out, problem);
    out = *real;
    return true;
}

bool to_real(Number number, float& out, DecodeProblem& problem) {
    const double* real = std::get_if<double>(&number);
    if (!real) return whole_to_real(number, out, problem);
    // Above the largest float, the conversion is undefined.
    bool too_large = std::abs(*real) > static_cast<double>(std::numeric_limits<float>::max());
    float narrow = too_large ? 0.0F : static_cast<float>(*real);
    if (narrow == 0.0F && *real != 0.0)
        return refuse("Is too large or too small for its type.", problem);
    out = narrow;
    return true;
}

}  // namespace pawl::json
