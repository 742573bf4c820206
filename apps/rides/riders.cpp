#include "apps/rides/riders.hpp"

#include <pawl/bearer_token.hpp>

#include <boost/url/parse.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rides {

namespace {

constexpr std::string_view wrong_form = "is not \"token email [support] [cus_...]\"";

// It is used in a mail's header and in SMTP commands.
bool is_address(std::string_view text) {
    const auto at = text.find('@');
    const auto plain = [](char c) {
        return c > ' ' && c < 127 &&
               std::string_view{"<>()[],;:\\\""}.find(c) == std::string_view::npos;
    };
    return at != text.npos && at > 0 && at + 1 < text.size() &&
           text.find('@', at + 1) == text.npos && text.size() <= 254 &&
           std::all_of(text.begin(), text.end(), plain);
}

// An id of Stripe: "cus_NffrFeUfNV2Hib".
bool is_customer(std::string_view text) {
    constexpr std::string_view prefix = "cus_";
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return text.starts_with(prefix) && text.size() > prefix.size() && text.size() <= 50 &&
           std::all_of(text.begin(), text.end(), plain);
}

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::size_t from = 0;
    for (auto to = line.find(' '); to != line.npos; to = line.find(' ', from)) {
        words.push_back(line.substr(from, to - from));
        from = to + 1;
    }
    words.push_back(line.substr(from));
    return words;
}

bool has_form(const std::vector<std::string>& words) {
    if (words.size() < 2 || words.size() > 4 || words[0].empty()) return false;
    if (words.size() == 4) return words[2] == "support" && is_customer(words[3]);
    return words.size() == 2 || words[2] == "support" || is_customer(words[2]);
}

}  // namespace

// The problem with a line of the tokens file; contains no token.
std::string Riders::problem_of(const std::string& line, std::size_t token_min_here) const {
    if (line.ends_with('\r')) return "ends with CR and LF: save it with LF only";
    if (line.empty() || line.front() == '#') return "";
    const auto words = words_of(line);
    if (!has_form(words)) return std::string{wrong_form};
    if (!is_address(words[1])) return "has a malformed e-mail address";
    if (words[0].size() < token_min_here)
        return "has a token of " + std::to_string(words[0].size()) + " characters: at least " +
               std::to_string(token_min_here) + " beyond loopback (openssl rand -hex 16 makes one)";
    return problem_of_customer(words);
}

std::string Riders::problem_of_customer(const std::vector<std::string>& words) const {
    if (!is_customer(words.back())) return "";
    const auto its = customers_.find(words[1]);
    if (its != customers_.end() && its->second != words.back())
        return "has another customer than an earlier line of the rider";
    const auto of = of_customer_.find(words.back());
    if (of != of_customer_.end() && of->second != words[1]) return "has another rider's customer";
    return "";
}

void Riders::add(const std::vector<std::string>& words) {
    const auto& email = words[1];
    by_token_[words[0]] = {"rides", email};
    if (words.size() > 2 && words[2] == "support") support_.insert(email);
    if (!is_customer(words.back())) return;
    customers_[email] = words.back();
    of_customer_[words.back()] = email;
}

void Riders::add(const std::string& line) {
    const auto words = words_of(line);
    auto why = has_form(words) && words[1].find('@') != std::string::npos
                   ? problem_of_customer(words)
                   : std::string{wrong_form};
    if (!why.empty()) throw std::invalid_argument{"a line of the tokens " + why};
    add(words);
}

void Riders::add_test_rider(const std::string& line) {
    const auto words = words_of(line);
    const bool has_tenant = words.size() > 2 && words[2] != "support" && !is_customer(words[2]);
    if (!has_tenant) return add(line);
    add(words[0] + ' ' + words[1] + (words.size() > 3 ? ' ' + words[3] : ""));
    by_token_[words[0]].tenant = words[2];
}

void Riders::add_file(const std::string& path, std::size_t token_min_here) {
    std::ifstream file{path};
    if (!file) throw std::invalid_argument{"the tokens file " + path + " can't be read"};
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (const auto why = problem_of(line, token_min_here); !why.empty())
            throw std::invalid_argument{
                "line " + std::to_string(number) + " of the tokens file " + path + " " + why};
        if (!line.empty() && line.front() != '#') add(words_of(line));
    }
}

bool same_text(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return difference == 0;
}

std::optional<pawl::Principal> Riders::find(const pawl::RequestHead& head) const {
    const auto token = pawl::bearer_token(head);
    if (!token) return std::nullopt;
    return find_token(std::string{*token});
}

std::optional<pawl::Principal> Riders::find_token(const std::string& token) const {
    const auto at = by_token_.find(token);
    if (at == by_token_.end()) return std::nullopt;
    return at->second;
}

std::vector<Riders::Account> Riders::accounts() const {
    std::vector<Account> all;
    for (const auto& [token, rider] : by_token_) {
        Account account{rider.account, support_.contains(rider.account)};
        const auto its = customers_.find(rider.account);
        if (its != customers_.end()) account.customer = its->second;
        all.push_back(std::move(account));
    }
    return all;
}

bool is_loopback(const std::string& listen) {
    const auto host = listen.substr(0, listen.rfind(':'));
    return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

bool is_loopback_url(std::string_view url) {
    const auto parsed = boost::urls::parse_uri(url);
    if (!parsed) return false;
    if (parsed->host_type() == boost::urls::host_type::ipv4)
        return parsed->host_ipv4_address().is_loopback();
    if (parsed->host_type() == boost::urls::host_type::ipv6)
        return parsed->host_ipv6_address().is_loopback();
    return parsed->host() == "localhost";
}

}  // namespace rides
