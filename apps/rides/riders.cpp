#include "apps/rides/riders.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace rides {

void Riders::add(const std::string& line) {
    const auto space = line.find(' ');
    const auto end = line.find(' ', std::min(space, line.size() - 1) + 1);
    const auto email = space == line.npos ? "" : line.substr(space + 1, end - space - 1);
    const bool support = end != line.npos && line.substr(end + 1) == "support";
    if (space == 0 || email.find('@') == email.npos || (end != line.npos && !support))
        throw std::invalid_argument{
            "a line of the tokens is not \"token email\" or \"token email support\""};
    by_token_[line.substr(0, space)] = {"rides", email};
    if (support) support_.insert(email);
}

void Riders::add_test_rider(const std::string& line) {
    const auto last = line.rfind(' ');
    if (last == line.npos || last == line.find(' ') || line.substr(last + 1) == "support")
        return add(line);
    add(line.substr(0, last));
    by_token_[line.substr(0, line.find(' '))].tenant = line.substr(last + 1);
}

void Riders::add_file(const std::string& path) {
    std::ifstream file{path};
    if (!file) throw std::invalid_argument{"the tokens file " + path + " can't be read"};
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line.front() != '#') add(line);
}

std::optional<pawl::Principal> Riders::find(const pawl::RequestHead& head) const {
    constexpr std::string_view bearer = "Bearer ";
    const auto given = head.header("Authorization");
    if (!given || given->substr(0, bearer.size()) != bearer) return std::nullopt;
    return find_token(std::string{given->substr(bearer.size())});
}

std::optional<pawl::Principal> Riders::find_token(const std::string& token) const {
    const auto at = by_token_.find(token);
    if (at == by_token_.end()) return std::nullopt;
    return at->second;
}

std::vector<Riders::Account> Riders::accounts() const {
    std::vector<Account> all;
    for (const auto& [token, rider] : by_token_)
        all.push_back({rider.account, support_.contains(rider.account)});
    return all;
}

bool is_loopback(const std::string& listen) {
    const auto host = listen.substr(0, listen.rfind(':'));
    return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

}  // namespace rides
