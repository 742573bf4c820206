#include "apps/rides/pages/sessions.hpp"

#include "apps/rides/crypto.hpp"

#include <boost/url/parse.hpp>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace rides {

namespace {

constexpr std::size_t id_size = 32;
constexpr std::size_t cookie_max = 512;  // Our cookies have under 200 characters.

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const auto to = std::min(text.find(at, from), text.size());
        parts.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

std::optional<pawl::TimePoint> time_of(std::string_view seconds) {
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    if (error != std::errc{} || end != seconds.data() + seconds.size()) return std::nullopt;
    if (value < 0 || value > 1'000'000'000'000) return std::nullopt;
    return pawl::TimePoint{std::chrono::seconds{value}};
}

}  // namespace

Sessions::Sessions(
    std::string secret, std::string site, const Riders& riders, const EndedSessions& ended
)
    : secret_{std::move(secret)},
      site_{std::move(site)},
      // A browser accepts __Host- only if the cookie is Secure, for all paths and for this host: no
      // other host of the domain can plant one.
      name_{site_.empty() ? "rides_session" : "__Host-rides_session"},
      ended_{ended} {
    for (const auto& [token, rider] : riders.by_token()) by_mark_[mac("rider", token)] = rider;
}

std::string Sessions::mac(std::string_view what, std::string_view of) const {
    return hmac_sha256(secret_, std::string{what} + '\0' + std::string{of});
}

std::string Sessions::set_cookie(std::string_view value, std::chrono::seconds age) const {
    auto text = name_ + "=" + std::string{value} +
                "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(age.count());
    if (!site_.empty()) text += "; Secure";
    return text;
}

std::optional<std::string> Sessions::begin(
    const SignIn& given, std::string_view id, pawl::TimePoint now
) const {
    const auto mark = mac("rider", given.token);
    const auto rider = by_mark_.find(mark);
    if (rider == by_mark_.end() || !same_text(rider->second.account, given.email))
        return std::nullopt;
    const auto since =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    auto value = std::string{id} + "." + std::to_string(since) + "." + mark;
    value += "." + mac("session", value);
    return set_cookie(value, age_max);
}

std::string Sessions::end() const {
    return set_cookie("", std::chrono::seconds{0});
}

std::optional<Signed> Sessions::find(const pawl::RequestHead& head, pawl::TimePoint now) const {
    const auto value = cookie(head, name_);
    if (!value || value->size() > cookie_max) return std::nullopt;
    const auto last = value->rfind('.');
    if (last == value->npos) return std::nullopt;
    const auto said = std::string_view{*value}.substr(0, last);
    if (!same_text(std::string_view{*value}.substr(last + 1), mac("session", said)))
        return std::nullopt;
    const auto parts = split(said, '.');
    if (parts.size() != 3 || parts[0].size() != id_size) return std::nullopt;
    const auto since = time_of(parts[1]);
    // If the time is in the future, a clock was set back since.
    if (!since || now - *since >= age_max || *since - now > std::chrono::minutes{5})
        return std::nullopt;
    const auto rider = by_mark_.find(std::string{parts[2]});
    if (rider == by_mark_.end()) return std::nullopt;
    EndedSession session{std::string{parts[0]}, *since};
    if (ended_.has_ended(session)) return std::nullopt;
    return Signed{rider->second, mac("form", parts[0]), std::move(session)};
}

bool Sessions::is_foreign(const pawl::RequestHead& head) const {
    // Browsers send it only to origins that they trust: HTTPS and loopback.
    if (head.count("Sec-Fetch-Site") > 0) {
        const auto site = head.header("Sec-Fetch-Site").value_or("");
        return site != "same-origin" && site != "none";
    }
    if (head.count("Origin") == 0) return false;
    const auto origin = head.header("Origin").value_or("");
    if (!site_.empty()) return origin != site_;
    return origin != "http://" + std::string{head.header("Host").value_or("")};
}

std::optional<std::string> cookie(const pawl::RequestHead& head, std::string_view name) {
    std::optional<std::string> found;
    for (const auto& pair : split(head.header("Cookie").value_or(""), ';')) {
        const auto begin = std::min(pair.find_first_not_of(' '), pair.size());
        const auto equals = pair.find('=');
        if (equals == pair.npos || pair.substr(begin, equals - begin) != name) continue;
        if (found) return std::nullopt;
        found = pair.substr(equals + 1);
    }
    return found;
}

std::optional<std::string> site_problem(std::string_view site) {
    if (site.empty()) return std::nullopt;
    const auto url = boost::urls::parse_absolute_uri(site);
    if (url && url->scheme() == "https" && !url->host().empty() && url->encoded_path().empty() &&
        !url->has_query() && !url->has_userinfo())
        return std::nullopt;
    return "--site is " + std::string{site} +
           ": https:// and a host, without a path, as browsers are to find it: " +
           "https://rides.example";
}

}  // namespace rides
