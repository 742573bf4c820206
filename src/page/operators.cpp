#include "src/page/operators.hpp"

#include "src/core/ascii.hpp"
#include "src/json/hash.hpp"

#include <algorithm>

namespace pawl::page {

namespace {

constexpr std::size_t token_min = 16;
constexpr std::size_t name_max = 64;
constexpr std::size_t operators_max = 1'000;
constexpr std::string_view hash_prefix = "sha256:";

std::optional<Role> role_of(std::string_view word) {
    for (const auto role : {Role::viewer, Role::operating, Role::admin})
        if (word == name_of(role)) return role;
    return std::nullopt;
}

bool is_hash(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// nullopt: too short for a token, or no hash.
std::optional<std::string> hash_of(std::string_view word) {
    if (word.starts_with(hash_prefix)) {
        word.remove_prefix(hash_prefix.size());
        return is_hash(word) ? std::optional{std::string{word}} : std::nullopt;
    }
    if (word.size() < token_min) return std::nullopt;
    return json::hex(json::sha256(word));
}

}  // namespace

std::string_view name_of(Role role) {
    switch (role) {
        case Role::viewer:
            return "viewer";
        case Role::operating:
            return "operator";
        case Role::admin:
            break;
    }
    return "admin";
}

std::optional<std::string> Operators::add_line(std::string_view line) {
    const auto words = core::words_of(line, " \t\r");
    if (words.empty() || words.front().starts_with('#')) return std::nullopt;
    if (words.size() < 2 || words.size() > 3) return "not NAME ROLE [TOKEN]";
    if (words[0].size() > name_max) return "a name has more than 64 characters";
    const auto role = role_of(words[1]);
    if (!role) return "the role is not viewer, operator or admin";
    if (!by_name_.try_emplace(std::string{words[0]}, Operator{std::string{words[0]}, *role}).second)
        return "the name stands there twice";
    if (by_name_.size() > operators_max) return "there are more than 1000 operators";
    if (words.size() == 2) return std::nullopt;
    const auto hash = hash_of(words[2]);
    if (!hash) return "a token has at least 16 characters; its hash is sha256: and 64 hex digits";
    if (!names_.try_emplace(*hash, words[0]).second) return "the token is another operator's";
    return std::nullopt;
}

std::variant<Operators, std::string> Operators::parse(std::string_view text) {
    Operators made;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        if (const auto wrong = made.add_line(text.substr(0, end)))
            return "line " + std::to_string(number) + ": " + *wrong;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (made.empty()) return "it names no operator: a line is NAME ROLE TOKEN";
    return made;
}

// By its hash, so the time that the search takes tells nothing of a token.
std::optional<Operator> Operators::by_token(std::string_view token) const {
    const auto found = names_.find(json::hex(json::sha256(token)));
    return found == names_.end() ? std::nullopt : by_name(found->second);
}

std::string Operators::token_hash_of(std::string_view name) const {
    const auto found = std::ranges::find(names_, name, [](const auto& one) -> std::string_view {
        return one.second;
    });
    return found == names_.end() ? std::string{} : found->first;
}

std::optional<Operator> Operators::by_name(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace pawl::page
