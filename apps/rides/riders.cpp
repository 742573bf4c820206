#include "apps/rides/riders.hpp"

#include <pawl/bearer_token.hpp>

#include <boost/url/parse.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace rides {

namespace {

constexpr std::string_view wrong_form = "is not \"token email\" or \"token email support\"";

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

// The problem with a line of the tokens file; contains no token.
std::string problem_of(const std::string& line, std::size_t token_min) {
    if (line.ends_with('\r')) return "ends with CR and LF: save it with LF only";
    if (line.empty() || line.front() == '#') return "";
    std::vector<std::string> words;
    std::size_t from = 0;
    for (auto to = line.find(' '); to != line.npos; to = line.find(' ', from)) {
        words.push_back(line.substr(from, to - from));
        from = to + 1;
    }
    words.push_back(line.substr(from));
    if (words.size() < 2 || words.size() > 3 || words[0].empty() ||
        (words.size() == 3 && words[2] != "support"))
        return std::string{wrong_form};
    if (!is_address(words[1])) return "has a malformed e-mail address";
    if (words[0].size() < token_min)
        return "has a token of " + std::to_string(words[0].size()) + " characters: at least " +
               std::to_string(token_min) + " beyond loopback (openssl rand -hex 16 makes one)";
    return "";
}

}  // namespace

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

void Riders::add_file(const std::string& path, std::size_t token_min_here) {
    std::ifstream file{path};
    if (!file) throw std::invalid_argument{"the tokens file " + path + " can't be read"};
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (const auto why = problem_of(line, token_min_here); !why.empty())
            throw std::invalid_argument{
                "line " + std::to_string(number) + " of the tokens file " + path + " " + why};
        if (!line.empty() && line.front() != '#') add(line);
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
    for (const auto& [token, rider] : by_token_)
        all.push_back({rider.account, support_.contains(rider.account)});
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
