#include "tests/fuzz/spelling.hpp"

#include "src/json/document.hpp"
#include "src/json/members.hpp"
#include "src/json/surrogates.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

namespace pawl::fuzz {

namespace {

// One value of a valid JSON text, and its parts.
struct Node {
    enum class Kind { word, number, text, list, object } kind{};
    std::string_view literal;  // For the first three kinds.
    std::vector<std::string_view> names;
    std::vector<Node> items;
};

class Reader {
public:
    explicit Reader(std::string_view text) : text_{text} {}
    Node value() {
        skip_space();
        const char first = text_[at_];
        if (first == '[' || first == '{') return nested(first == '{');
        if (first == '"') return {Node::Kind::text, string(), {}, {}};
        const auto size = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size()) - at_;
        const auto literal = text_.substr(std::exchange(at_, at_ + size), size);
        const bool number = first == '-' || (first >= '0' && first <= '9');
        return {number ? Node::Kind::number : Node::Kind::word, literal, {}, {}};
    }
    std::size_t depth() const { return deepest_; }

private:
    Node nested(bool object) {
        Node node{object ? Node::Kind::object : Node::Kind::list, {}, {}, {}};
        deepest_ = std::max(deepest_, ++depth_);
        ++at_;
        skip_space();
        while (text_[at_] != ']' && text_[at_] != '}') {
            if (object) {
                node.names.push_back(string());
                skip_space();
                ++at_;  // The colon.
            }
            node.items.push_back(value());
            skip_space();
            if (text_[at_] == ',') ++at_;
            skip_space();
        }
        ++at_;
        --depth_;
        return node;
    }
    std::string_view string() {
        const auto begin = at_;
        for (++at_; text_[at_] != '"'; ++at_)
            if (text_[at_] == '\\') ++at_;
        return text_.substr(begin, ++at_ - begin);
    }
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

    std::string_view text_;
    std::size_t at_{0};
    std::size_t depth_{0};
    std::size_t deepest_{0};
};

bool only_digits(std::string_view number) {
    return number.find_first_of(".eE") == number.npos;
}

// -12.50e3 is -, 1250 and 1.
struct Decimal {
    std::string sign;
    std::string digits;
    int power{};
};

std::optional<Decimal> decimal_of(std::string_view number) {
    Decimal decimal;
    const auto mark = number.find_first_of("eE");
    if (mark != number.npos) {
        auto power = number.substr(mark + 1);
        if (power.starts_with('+')) power.remove_prefix(1);
        const auto* const end = power.data() + power.size();
        const auto read = std::from_chars(power.data(), end, decimal.power);
        if (read.ec != std::errc{} || std::abs(decimal.power) > 100'000) return std::nullopt;
    }
    for (const char c : number.substr(0, mark)) {
        if (c == '-')
            decimal.sign = "-";
        else if (c != '.')
            decimal.digits += c;
    }
    const auto point = number.find('.');
    if (point != number.npos)
        decimal.power -= static_cast<int>(std::min(mark, number.size()) - point - 1);
    return decimal;
}

// Whether it is so small that no rule on large or inexact numbers applies.
bool is_modest(std::string_view number) {
    const auto decimal = decimal_of(number);
    const std::size_t digits_max = only_digits(number) ? 18 : 15;
    return decimal && decimal->digits.size() <= digits_max && std::abs(decimal->power) <= 200;
}

// Whether two texts are the same number, without regard to zeros.
bool is_same_decimal(std::string_view one, std::string_view other) {
    const auto bare = [](std::string_view number) {
        auto decimal = decimal_of(number).value_or(Decimal{});
        auto& digits = decimal.digits;
        const auto last = digits.find_last_not_of('0');
        if (last == digits.npos) return Decimal{};
        decimal.power += static_cast<int>(digits.size() - 1 - last);
        digits.erase(last + 1);
        digits.erase(0, digits.find_first_not_of('0'));
        return decimal;
    };
    const auto a = bare(one);
    const auto b = bare(other);
    return a.sign == b.sign && a.digits == b.digits && a.power == b.power;
}

// Whether the C library's double, or one of its usual texts, is exactly that number.
bool is_kept(std::string_view number) {
    if (only_digits(number) || !decimal_of(number)) return true;  // These have a rule of their own.
    const std::string text{number};
    const double value = std::strtod(text.c_str(), nullptr);
    std::array<char, 512> printed{};
    std::snprintf(printed.data(), printed.size(), "%.0f", value);
    if (std::abs(value) >= 0x1p53 && value >= -0x1p63 && value < 0x1p64)
        return is_same_decimal(number, printed.data());
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(printed.data(), printed.size(), "%.*e", digits - 1, value);
        if (is_same_decimal(number, printed.data())) return true;
    }
    // The shortest digits that round-trip may not be the nearest of that length.
    const auto canonical = json::canonical_text(number);
    return canonical.index() == 0 && is_same_decimal(number, std::get<std::string>(canonical));
}

bool has_changed(const Node& node) {
    if (node.kind == Node::Kind::number) return !is_kept(node.literal);
    return std::any_of(node.items.begin(), node.items.end(), has_changed);
}

bool has_large(const Node& node) {
    if (node.kind == Node::Kind::number) return !is_modest(node.literal);
    return std::any_of(node.items.begin(), node.items.end(), has_large);
}

bool has_twice(const Node& node) {
    std::set<std::string> seen;
    for (const auto name : node.names)
        if (!seen.insert(json::string_of(name).value_or("")).second) return true;
    return std::any_of(node.items.begin(), node.items.end(), has_twice);
}

class Speller {
public:
    explicit Speller(Dice& dice) : dice_{dice} {}
    std::string spell(const Node& node) {
        switch (node.kind) {
            case Node::Kind::word:
                return space() + std::string{node.literal} + space();
            case Node::Kind::number:
                return space() + number(node.literal) + space();
            case Node::Kind::text:
                return space() + text(node.literal) + space();
            case Node::Kind::list:
            case Node::Kind::object:
                break;
        }
        return nested(node);
    }

private:
    std::string space() {
        constexpr std::string_view spaces[]{"", "", "", " ", "\n", "\t\r"};
        return std::string{spaces[dice_.below(std::size(spaces))]};
    }
    std::string nested(const Node& node) {
        const bool object = node.kind == Node::Kind::object;
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < node.items.size(); ++i) order.push_back(i);
        for (std::size_t i = order.size(); object && i > 1; --i)
            std::swap(order[i - 1], order[dice_.below(i)]);
        std::string all{object ? "{" : "["};
        for (const auto i : order) {
            if (all.size() > 1) all += ',';
            if (object) all += space() + text(node.names[i]) + space() + ":";
            all += spell(node.items[i]);
        }
        if (order.empty()) all += space();
        return space() + all + (object ? "}" : "]") + space();
    }
    // Keeps escapes; may escape plain letters.
    std::string text(std::string_view literal) {
        std::string all;
        for (std::size_t i = 0; i < literal.size(); ++i) {
            const char c = literal[i];
            if (c == '\\') {
                const std::size_t size = literal[i + 1] == 'u' ? 6 : 2;
                all += literal.substr(i, size);
                i += size - 1;
            } else if (c != '"' && c >= ' ' && dice_.below(4) == 0) {
                char escape[8];
                const auto* const form = dice_.below(2) == 0 ? "\\u%04x" : "\\u%04X";
                std::snprintf(escape, sizeof escape, form, static_cast<unsigned>(c));
                all += escape;
            } else {
                all += c;
            }
        }
        return all;
    }
    // A literal of digits is exact up to 64 bits; one with a point or an exponent is a double.
    // Below 2^53 they are the same.
    std::string number(std::string_view literal) {
        auto decimal = decimal_of(literal);
        if (!decimal || dice_.below(2) == 0) return std::string{literal};
        if (only_digits(literal) && decimal->digits.size() > 15) return std::string{literal};
        for (auto zeros = dice_.below(3); zeros > 0; --zeros, --decimal->power)
            decimal->digits += '0';
        // Digits after the point; at least one before it, and a leading 0 only alone.
        const auto& digits = decimal->digits;
        const auto first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
        const auto behind = dice_.below(digits.size() - first);
        const auto whole = digits.substr(first, digits.size() - first - behind);
        const auto power = decimal->power + static_cast<int>(behind);
        auto all = decimal->sign + whole;
        if (behind > 0) all += "." + digits.substr(digits.size() - behind);
        return all + (dice_.below(2) == 0 ? "e" : "E") + (power < 0 ? "" : "+") +
               std::to_string(power);
    }

    Dice& dice_;
};

std::size_t count_of(const Node& node) {
    std::size_t count = 1;
    for (const auto& item : node.items) count += count_of(item);
    return count;
}

// The nth value, in document order.
Node* nth(Node& node, std::size_t& n) {
    if (n-- == 0) return &node;
    for (auto& item : node.items)
        if (auto* found = nth(item, n)) return found;
    return nullptr;
}

std::string_view another(const Node& node, Dice& dice) {
    constexpr std::string_view all[]{
        "null",
        "true",
        "false",
        "0",
        "-1",
        "\"\"",
        "\"0\"",
        "[]",
        "{}",
        "1e-7",
        "9007199254740993",
        "\"\\u0000\""};
    if (node.literal.size() > 1 && node.kind == Node::Kind::number && dice.below(2) == 0)
        return node.literal.substr(0, node.literal.size() - 1);  // The rest may not be a number.
    return all[dice.below(std::size(all))];
}

}  // namespace

std::optional<JsonFaults> faults_of(std::string_view text) {
    if (!json::is_json(text)) return std::nullopt;
    Reader reader{text};
    const auto root = reader.value();
    std::string replaced;
    return JsonFaults{
        reader.depth() > 32,
        has_twice(root),
        has_large(root),
        has_changed(root),
        json::replace_lone_surrogates(text, replaced) != text};
}

std::string spelled_anew(std::string_view json, Dice& dice) {
    return Speller{dice}.spell(Reader{json}.value());
}

std::string with_another_value(std::string_view json, Dice& dice) {
    auto root = Reader{json}.value();
    auto n = dice.below(count_of(root));
    auto& chosen = *nth(root, n);
    chosen = {Node::Kind::word, another(chosen, dice), {}, {}};
    return Speller{dice}.spell(root);
}

}  // namespace pawl::fuzz
