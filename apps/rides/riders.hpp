#pragma once

#include <pawl/principal.hpp>
#include <pawl/request_head.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rides {

// Who may ride: bearer tokens and the accounts (e-mail addresses) behind them. Read only once the
// server serves. All are of one tenant, "rides".
class Riders {
public:
    // A line is "token email", or "token email support" for an account that may refund the rides of
    // others, too. Throws std::invalid_argument that shows no token.
    void add(const std::string& line);
    // Also "token email tenant": what is counted, or kept, by tenant can be tried so.
    void add_test_rider(const std::string& line);
    void add_file(const std::string& path);
    std::optional<pawl::Principal> find(const pawl::RequestHead& head) const;
    std::optional<pawl::Principal> find_token(const std::string& token) const;
    const std::unordered_map<std::string, pawl::Principal>& by_token() const { return by_token_; }
    struct Account {
        std::string email;
        bool support{};
    };
    std::vector<Account> accounts() const;  // One may have several tokens: once for each.

private:
    std::unordered_map<std::string, pawl::Principal> by_token_;
    std::unordered_set<std::string> support_;  // E-mail addresses.
};

bool is_loopback(const std::string& listen);

}  // namespace rides
