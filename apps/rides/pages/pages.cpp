#include "apps/rides/pages/pages.hpp"

#include <pawl/http.hpp>
#include <pawl/json.hpp>

#include "apps/rides/crypto.hpp"
#include "apps/rides/pages/files.hpp"
#include "apps/rides/pages/views.hpp"

#include <algorithm>

namespace rides {

namespace {

using pawl::PublicRequest;
using pawl::Response;
using pawl::Shown;

std::string_view field(std::span<const pawl::FormField> form, std::string_view name) {
    const auto at = std::ranges::find(form, name, &pawl::FormField::name);
    return at == form.end() ? std::string_view{} : std::string_view{at->value};
}

pawl::TimePoint now() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// Where a sign-in may lead: only to our pages; otherwise a link could send riders anywhere.
std::string checked_next(std::string_view path) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '/';
    };
    const bool ours =
        path == "/rides" || path.starts_with("/rides/") || path.starts_with("/bookings/");
    if (!ours || path.size() > 300 || !std::ranges::all_of(path, plain)) return "/book";
    return std::string{path};
}

// The page of a form that was submitted after its session had ended.
std::string_view referring_path(const pawl::RequestHead& head) {
    const auto from = head.header("Referer").value_or("");
    const auto host = from.find("://");
    const auto path = host == from.npos ? from.npos : from.find('/', host + 3);
    return path == from.npos ? std::string_view{} : from.substr(path);
}

Response file(std::string_view content, std::string type) {
    Response response{.body = std::string{content}, .content_type = std::move(type)};
    add_safety(response);
    return response;
}

Response too_many_tries(std::string_view next, std::chrono::seconds wait) {
    const auto seconds = std::to_string(wait.count());
    auto page = sign_in_page(
        next,
        false,
        "There were too many wrong tokens for this rider from your network. Try again in " +
            seconds + " s."
    );
    page.status = 429;
    auto response = page_response(page);
    response.headers.push_back({"Retry-After", seconds});
    return response;
}

std::optional<Page> page_of_answer(
    const Shown& what, const std::string& form_token, const SentForms& sent
) {
    if (what.route == "/bookings/{key}") {
        auto booking = pawl::from_json<Booking>(what.body);
        if (!booking) return std::nullopt;
        if (booking->state != "new" || sent.has(booking->key, std::chrono::steady_clock::now()))
            return booking_page(*booking);
        if (!is_key_of_form(booking->key)) return nothing_there_page();
        return form_page({.key = booking->key, .form_token = form_token});
    }
    if (what.route == "/rides/{id}") {
        if (auto ride = pawl::from_json<Ride>(what.body)) return ride_page(*ride);
        return std::nullopt;
    }
    if (what.route == "/rides") {
        if (auto all = pawl::from_json<Rides>(what.body)) return rides_page(all->rides);
    }
    return std::nullopt;
}

std::optional<Page> page_of_problem(const Shown& what, const std::string& form_token) {
    const auto problem = pawl::from_json<Problem>(what.body);
    if (!problem) return std::nullopt;
    const bool booking = what.route == "/rides" && what.head.method == "POST";
    if (what.status == 401) {
        const bool get = what.head.method == "GET";
        const auto next = checked_next(get ? what.head.path : referring_path(what.head));
        auto page = sign_in_page(next, false, get ? "" : "Your booking was not sent on.");
        page.status = 401;
        return page;
    }
    // Only after the token was checked: then the fields are the rider's own.
    if (booking && kind_of(*problem) == "request-invalid" && !what.key.empty())
        return form_page(
            {.key = std::string{what.key},
             .form_token = form_token,
             .values = what.form,
             .wrong = problem->detail.value_or("")}
        );
    return problem_page(
        {.problem = *problem,
         .key = what.key,
         .form_token = form_token,
         .form = what.form,
         .retry_after = what.header("Retry-After"),
         .booking = booking,
         .looked = what.head.method == "GET" || what.head.method == "HEAD"}
    );
}

// The address after a submitted booking: always one that can be loaded again without submitting.
// nullopt: it is not known whether the request was started; the same form must be submitted again.
std::optional<std::string> after_booking(const Shown& what) {
    if (what.key.empty()) return std::nullopt;
    const auto booking = booking_path(what.key);
    if (what.status == 201) {
        const auto ride = what.header("Location");
        return ride.empty() ? booking : std::string{ride};
    }
    const auto problem = pawl::from_json<Problem>(what.body);
    if (!problem) return std::nullopt;
    const auto kind = kind_of(*problem);
    const bool known = kind.empty() || kind == "in-progress" || kind == "on-hold" ||
                       kind == "needs-attention" || kind == "provider-unavailable" ||
                       kind == "key-expired";
    return known ? std::optional{booking} : std::nullopt;
}

}  // namespace

void Pages::add_to(pawl::HttpServer& server) const {
    server.public_page("GET", "/", [this](const PublicRequest& asked) { return home(asked); });
    server.public_page("GET", "/book", [this](const PublicRequest& asked) {
        return new_form(asked);
    });
    server.public_page("POST", "/sign-in", [this](const PublicRequest& asked) {
        return sign_in(asked);
    });
    server.public_page("POST", "/sign-out", [this](const PublicRequest& asked) {
        return sign_out(asked);
    });
    server.public_page("GET", "/pages.css", [](const PublicRequest&) {
        return file(style_sheet, "text/css; charset=utf-8");
    });
    server.public_page("GET", "/icon.svg", [](const PublicRequest&) {
        return file(icon, "image/svg+xml");
    });
}

std::optional<pawl::Principal> Pages::signed_in(const pawl::RequestHead& head) const {
    auto found = sessions_.find(head, now());
    if (!found) return std::nullopt;
    return std::move(found->principal);
}

// A program sends its bearer token by itself; no page of another site can make it do so.
bool Pages::from_own_page(const pawl::RequestHead& head, std::string_view token) const {
    if (head.count("Authorization") > 0) return true;
    const auto session = sessions_.find(head, now());
    return session && !sessions_.is_foreign(head) && same_text(token, session->form_token);
}

std::optional<Response> Pages::present(const Shown& what) const {
    const bool booking = what.route == "/rides" && what.head.method == "POST";
    if (booking)
        if (auto path = after_booking(what)) {
            if (what.status == 409) sent_.add(what.key, std::chrono::steady_clock::now());
            return see_other(std::move(*path));
        }
    const auto session = sessions_.find(what.head, now());
    const std::string form_token = session ? session->form_token : "";
    if (what.route == "/bookings/{key}" && what.status == 200)
        if (const auto known = pawl::from_json<Booking>(what.body);
            known && known->state == "finished" && known->status == 201 && known->location)
            return see_other(*known->location);
    const auto type = what.header("Content-Type");
    auto page = type.starts_with("application/problem+json") ? page_of_problem(what, form_token)
                : what.status == 200 ? page_of_answer(what, form_token, sent_)
                                     : std::nullopt;
    if (!page) return std::nullopt;
    if (session) {
        page->rider = session->principal.account;
        page->form_token = form_token;
    }
    return page_response(*page);
}

Response Pages::home(const PublicRequest& asked) const {
    if (signed_in(asked.head)) return see_other("/book");
    return page_response(sign_in_page("/book", false, ""));
}

// Makes the key of a form; the page does not make it, because the key is in the address.
Response Pages::new_form(const PublicRequest& asked) const {
    if (!signed_in(asked.head)) return see_other("/");
    return see_other("/bookings/" + random_hex(32));
}

// Another site's page could otherwise sign a rider in as another rider, and book for him.
Response Pages::sign_in(const PublicRequest& asked) const {
    const auto next = checked_next(field(asked.form, "next"));
    if (sessions_.is_foreign(asked.head)) {
        auto page =
            sign_in_page("/book", false, "Another site asked to sign you in. You were not.");
        page.status = 403;
        return page_response(page);
    }
    const Sessions::SignIn given{
        .email = std::string{field(asked.form, "email")},
        .token = std::string{field(asked.form, "token")}};
    const pawl::SignInLimit::Try attempt{asked.head.client_address, given.email, given.token};
    if (const auto wait = limit_.begin(attempt, std::chrono::steady_clock::now()))
        return too_many_tries(next, *wait);
    const auto cookie = sessions_.begin(given, random_hex(32), now());
    if (!cookie) {
        limit_.wrong(attempt);
        auto page = sign_in_page(next, true, "");
        page.status = 401;
        return page_response(page);
    }
    limit_.right(attempt);
    auto response = see_other(next);
    response.headers.push_back({"Set-Cookie", *cookie});
    return response;
}

// Any page of ours may sign out: one that was opened before another sign-in has an old token, and
// its rider still wants to sign out.
Response Pages::sign_out(const PublicRequest& asked) const {
    auto response = see_other("/");
    if (sessions_.is_foreign(asked.head)) return response;
    // Ends it on the server too: the cookie may have been copied.
    if (auto session = sessions_.find(asked.head, now())) end_session_(std::move(session->session));
    response.headers.push_back({"Set-Cookie", sessions_.end()});
    return response;
}

}  // namespace rides
