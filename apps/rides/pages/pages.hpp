#pragma once

#include <pawl/browser.hpp>
#include <pawl/sign_in_limit.hpp>

#include "apps/rides/pages/sent_forms.hpp"
#include "apps/rides/pages/sessions.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace pawl {
class HttpServer;
}

namespace rides {

// Rocket Rides for browsers: sign-in, the booking form, its outcome, the rides. Every page of a
// ride is rendered from the JSON that other clients get, so there is one source of the data.
//
// The form's address has its key: GET /book makes one and redirects to /bookings/{key}. Going back,
// reloading, opening or submitting twice all use the same key, and the address shows the form only
// until it is submitted. docs/howto/forms.md.
//
// All references outlive the pages, and the pages outlive the server. Thread-safe.
class Pages {
public:
    struct Parts {
        const Sessions& sessions;
        pawl::SignInLimit& limit;                       // Of wrong tokens.
        std::function<void(EndedSession)> end_session;  // From any thread; quick.
    };
    explicit Pages(Parts parts)
        : sessions_{parts.sessions},
          limit_{parts.limit},
          end_session_{std::move(parts.end_session)} {}

    void add_to(pawl::HttpServer& server) const;  // Adds its public pages. Before start().
    std::optional<pawl::Response> present(const pawl::Shown& what) const;
    bool from_own_page(const pawl::RequestHead& head, std::string_view token) const;
    std::optional<pawl::Principal> signed_in(const pawl::RequestHead& head) const;

private:
    pawl::Response home(const pawl::PublicRequest& asked) const;
    pawl::Response new_form(const pawl::PublicRequest& asked) const;
    pawl::Response sign_in(const pawl::PublicRequest& asked) const;
    pawl::Response sign_out(const pawl::PublicRequest& asked) const;

    const Sessions& sessions_;
    pawl::SignInLimit& limit_;
    std::function<void(EndedSession)> end_session_;
    mutable SentForms sent_;
};

}  // namespace rides
