#pragma once

#include <pawl/principal.hpp>
#include <pawl/request_head.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rides {

// In a time that does not tell how much of them is the same.
bool same_text(std::string_view a, std::string_view b);
struct SameText {
    bool operator()(std::string_view a, std::string_view b) const { return same_text(a, b); }
};

// Who may ride: bearer tokens and the accounts (e-mail addresses) behind them. Read only once the
// server serves. All are of one tenant, "rides".
class Riders {
public:
    // A line is "token email", or "token email support" for an account that may refund the rides of
    // others, too. Throws std::invalid_argument that shows no token.
    void add(const std::string& line);
    // Also "token email tenant": what is counted, or kept, by tenant can be tried so.
    void add_test_rider(const std::string& line);
    // Also refuses, with its line, a token shorter than `token_min`, an address that is none, and
    // CR.
    void add_file(const std::string& path, std::size_t token_min = 1);
    // Where others than this machine's users can reach the server: 16 random characters can't be
    // guessed.
    static constexpr std::size_t token_min = 16;
    std::optional<pawl::Principal> find(const pawl::RequestHead& head) const;
    std::optional<pawl::Principal> find_token(const std::string& token) const;
    const auto& by_token() const { return by_token_; }
    struct Account {
        std::string email;
        bool support{};
    };
    std::vector<Account> accounts() const;  // One may have several tokens: once for each.

private:
    std::unordered_map<std::string, pawl::Principal, std::hash<std::string>, SameText> by_token_;
    std::unordered_set<std::string> support_;  // E-mail addresses.
};

bool is_loopback(const std::string& listen);
// Whether a URL's host is this machine: what goes there passes no network.
bool is_loopback_url(std::string_view url);

}  // namespace rides
