#pragma once

#include <pawl/principal.hpp>
#include <pawl/request_head.hpp>
#include <pawl/tx.hpp>

#include "apps/rides/pages/ended_sessions.hpp"
#include "apps/rides/riders.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rides {

// A rider who is signed in by a cookie, as long as the token is among the riders'.
struct Signed {
    pawl::Principal principal;
    std::string form_token;  // For every form that is shown in this session.
    EndedSession session;    // A sign-out ends the session by this.
};

// Browser sessions, stored in the cookie: its id, its start, a mark of the rider's token, and an
// HMAC over the three. So every server knows all sessions, removing a rider's token ends his, and
// only sessions ended by a sign-out are stored here. Thread-safe.
//
// The token of forms is an HMAC over the id: it differs between sessions, and a site that can't
// read our pages can't make it ("HMAC-based token" of OWASP's CSRF cheat sheet).
class Sessions {
public:
    static constexpr std::chrono::hours age_max{12};

    // `secret` is the installation's. `site` is the URL for browsers, "https://host": cookies are
    // then Secure; empty: on loopback, over HTTP. Copies the current riders. `ended` outlives the
    // sessions.
    Sessions(
        std::string secret, std::string site, const Riders& riders, const EndedSessions& ended
    );

    struct SignIn {
        std::string email;
        std::string token;
    };
    // The value of Set-Cookie; nullopt if the rider with this address has no such token. `id` is 32
    // random hex digits.
    std::optional<std::string> begin(const SignIn& given, std::string_view id, pawl::TimePoint now)
        const;
    std::string end() const;  // The value of Set-Cookie that removes it.
    std::optional<Signed> find(const pawl::RequestHead& head, pawl::TimePoint now) const;

    // Whether the browser says that another site's page sent this. Old browsers and other programs
    // do not say.
    bool is_foreign(const pawl::RequestHead& head) const;

private:
    std::string mac(std::string_view what, std::string_view of) const;
    std::string set_cookie(std::string_view value, std::chrono::seconds age) const;

    std::string secret_;
    std::string site_;
    std::string name_;
    const EndedSessions& ended_;
    // By the mark of each rider's token.
    std::unordered_map<std::string, pawl::Principal, std::hash<std::string>, SameText> by_mark_;
};

// The value of a cookie; nullopt if it is missing or repeated. RFC 6265, 5.4.
std::optional<std::string> cookie(const pawl::RequestHead& head, std::string_view name);

// The problem with --site; nullopt: none.
std::optional<std::string> site_problem(std::string_view site);

}  // namespace rides
