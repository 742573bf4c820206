#pragma once

#include <pawl/principal.hpp>
#include <pawl/request_head.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace rides {

// Who may ride: bearer tokens and the accounts (e-mail addresses) behind them. Read only once the
// server serves. All are of one tenant, "rides".
class Riders {
public:
    // A line is "token email". Throws std::invalid_argument that shows no token.
    void add(const std::string& line);
    // Also "token email tenant": what is counted by tenant can be tried so. Rides themselves know
    // no tenant: this is for tests.
    void add_test_rider(const std::string& line);
    void add_file(const std::string& path);
    std::optional<pawl::Principal> find(const pawl::RequestHead& head) const;
    std::optional<pawl::Principal> find_token(const std::string& token) const;
    const std::unordered_map<std::string, pawl::Principal>& by_token() const { return by_token_; }
    std::vector<std::string> emails() const;

private:
    std::unordered_map<std::string, pawl::Principal> by_token_;
};

bool is_loopback(const std::string& listen);

}  // namespace rides
