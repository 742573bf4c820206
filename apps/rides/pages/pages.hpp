#pragma once

#include <pawl/browser.hpp>

#include "apps/rides/pages/sessions.hpp"
#include "apps/rides/pages/sign_in_tries.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace pawl {
class HttpServer;
}

namespace rides {

// Rocket Rides for browsers: sign-in, the booking form, what became of it, the rides. Every page of
// a ride is made of the JSON that other clients get, so there is one source of what is shown.
//
// The form's address has its key: GET /book makes one and leads to /bookings/{key}. Whoever goes
// back, reloads, opens it twice or sends it twice has the same key, and this address shows the form
// only as long as nobody has sent it. docs/howto/forms.md.
//
// All that is borrowed outlives the pages, and the pages the server. Thread-safe.
class Pages {
public:
    struct Parts {
        const Sessions& sessions;
        SignInTries& tries;
        std::function<void(EndedSession)> end_session;  // From any thread; quick.
    };
    explicit Pages(Parts parts)
        : sessions_{parts.sessions},
          tries_{parts.tries},
          end_session_{std::move(parts.end_session)} {}

    void add_to(pawl::HttpServer& server) const;  // Its open pages. Before start().
    std::optional<pawl::Response> present(const pawl::Shown& what) const;
    bool from_own_page(const pawl::RequestHead& head, std::string_view token) const;
    std::optional<pawl::Principal> signed_in(const pawl::RequestHead& head) const;

private:
    pawl::Response home(const pawl::OpenAsked& asked) const;
    pawl::Response new_form(const pawl::OpenAsked& asked) const;
    pawl::Response sign_in(const pawl::OpenAsked& asked) const;
    pawl::Response sign_out(const pawl::OpenAsked& asked) const;

    const Sessions& sessions_;
    SignInTries& tries_;
    std::function<void(EndedSession)> end_session_;
};

}  // namespace rides
