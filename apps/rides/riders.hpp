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

// Takes the same time wherever the texts differ.
bool same_text(std::string_view a, std::string_view b);
struct SameText {
    bool operator()(std::string_view a, std::string_view b) const { return same_text(a, b); }
};

// The riders: bearer tokens and their accounts (e-mail addresses). Not changed while the server
// runs. All belong to one tenant, "rides".
class Riders {
public:
    // A line is "token email [support] [cus_...]": `support` for an account that may refund others'
    // rides, too; the customer that the account is at Stripe already, or Stripe makes one at its
    // first ride. Throws std::invalid_argument, without the token.
    void add(const std::string& line);
    // Also accepts a tenant in the place of `support`, to test limits and keys per tenant.
    void add_test_rider(const std::string& line);
    // Refuses, with its line number, a token shorter than `token_min`, an invalid address, and CR.
    void add_file(const std::string& path, std::size_t token_min = 1);
    // For a server that other machines can reach: 16 random characters can't be guessed.
    static constexpr std::size_t token_min = 16;
    std::optional<pawl::Principal> find(const pawl::RequestHead& head) const;
    std::optional<pawl::Principal> find_token(const std::string& token) const;
    const auto& by_token() const { return by_token_; }
    struct Account {
        std::string email;
        bool support{};
        std::optional<std::string> customer{};
    };
    std::vector<Account> accounts() const;  // Once for each token of an account.

private:
    void add(const std::vector<std::string>& words);
    std::string problem_of(const std::string& line, std::size_t token_min_here) const;
    std::string problem_of_customer(const std::vector<std::string>& words) const;

    std::unordered_map<std::string, pawl::Principal, std::hash<std::string>, SameText> by_token_;
    std::unordered_set<std::string> support_;                     // E-mail addresses.
    std::unordered_map<std::string, std::string> customers_;      // By e-mail address.
    std::unordered_map<std::string, std::string> of_customer_{};  // The address, by customer.
};

bool is_loopback(const std::string& listen);
// Whether a URL's host is this machine, so that no request leaves it.
bool is_loopback_url(std::string_view url);

}  // namespace rides
