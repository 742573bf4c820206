#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Who may use the page, of the file of --operators.
namespace pawl::page {

// Each may do what those before it may:
//   viewer     reads, without parameters, answers and arguments
//   operating  reveals those, retries, settles, pauses, merges
//   admin      purges, and settles before the provider's time is over
enum class Role { viewer, operating, admin };
std::string_view name_of(Role role);  // "viewer", "operator", "admin".

struct Operator {
    std::string name;
    Role role{};

    bool operator==(const Operator&) const = default;
};

class Operators {
public:
    // A line has a name, a role and, for those who sign in by a token, its SHA-256 in hex or the
    // token itself (at least 16 characters). Empty lines and those that begin with # are left out.
    // Returns what is wrong, with its line, and never shows a token.
    static std::variant<Operators, std::string> parse(std::string_view text);

    std::optional<Operator> by_token(std::string_view token) const;
    std::optional<Operator> by_name(std::string_view name) const;
    std::string token_hash_of(std::string_view name) const;  // Empty: no token, or no such name.
    bool empty() const { return by_name_.empty(); }

private:
    std::optional<std::string> add_line(std::string_view line);

    std::map<std::string, Operator, std::less<>> by_name_;
    std::map<std::string, std::string, std::less<>> names_;  // By the hash of their token.
};

}  // namespace pawl::page
