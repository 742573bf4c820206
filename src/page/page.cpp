#include "src/page/page.hpp"

#include <pawl/error.hpp>

#include "src/base/log.hpp"
#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/json/fingerprint.hpp"
#include "src/page/acts.hpp"
#include "src/page/gate.hpp"
#include "src/page/layout.hpp"
#include "src/page/parts.hpp"
#include "src/page/route.hpp"
#include "src/page/threads.hpp"
#include "src/page/views.hpp"
#include "src/store/blocking.hpp"

#include <boost/json/object.hpp>

#include <exception>
#include <utility>
#include <variant>

namespace pawl::page {

namespace {

using http::Reply;
using http::Request;

constexpr std::string_view api = "/api";
constexpr Threads::Limits limits{.threads = 2, .waiting_max = 64, .of_sender_max = 16};
constexpr std::chrono::seconds query_max{2};

// What went wrong, for a person: the status of the answer, and the text.
Refused refusal_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Refused& refused) {
        return refused;
    } catch (const cli::UsageError& wrong) {
        return {400, wrong.why};
    } catch (const cli::CommandFailed& cannot) {
        return {409, cannot.why};
    } catch (const StoreError& error) {
        if (error.kind() == StoreError::Kind::deadline)
            return {503, "The query took longer than 2 s: narrow it, or run the command."};
        return {503, std::string{"The database does not answer: "} + error.what()};
    } catch (const std::exception& error) {
        log::limited_error("operators_page_failed", {{"detail", error.what()}});
        return {500, "This page has a defect; the log has it as operators_page_failed."};
    }
}

// Throws Refused.
Fields fields_of(std::string_view text) {
    if (text.empty()) return Fields{{}};
    auto parsed = json::parse_pairs(text);
    if (const auto* problem = std::get_if<DecodeProblem>(&parsed))
        throw Refused{400, problem->field + ": " + problem->why};
    return Fields{std::get<0>(std::move(parsed))};
}

Fields form_of(const Request& request) {
    const auto type = request.head.header("Content-Type").value_or("");
    if (!request.body.empty() && json::media_type(type) != "application/x-www-form-urlencoded")
        throw Refused{415, "Send the fields as application/x-www-form-urlencoded."};
    return fields_of(request.body);
}

bool is_get(const RequestHead& head) {
    return head.method == "GET" || head.method == "HEAD";
}

// The one thing that a command can't show is not there.
boost::json::value read(const View& view, const Asked& asked) {
    try {
        return view.read(asked);
    } catch (const cli::CommandFailed& cannot) {
        throw Refused{asked.id.empty() ? 409 : 404, cannot.why};
    }
}

Html alert(const Refused& refused) {
    return element("p", {{"role", "alert"}}, refused.why);
}

// The view and its status. A view with a form shows the form, too, if its filter is wrong.
std::pair<int, Html> shown(const View& view, const Asked& asked) {
    try {
        const auto data = read(view, asked);
        return {200, view.show(asked, data)};
    } catch (...) {
        if (view.search == nullptr) throw;
        const auto refused = refusal_of(std::current_exception());
        return {refused.status, {alert(refused), view.search(asked)}};
    }
}

template <class Route>
struct Found {
    const Route* route{};
    std::string id;
};

template <class Route>
Found<Route> find(std::span<const Route> routes, std::string_view path) {
    for (const auto& route : routes)
        if (auto id = match(route.path, path)) return {&route, std::move(*id)};
    return {};
}

Reply error_json(const Refused& refused) {
    return json_reply(
        refused.status, boost::json::object{{"status", refused.status}, {"detail", refused.why}}
    );
}

Html sign_in_form() {
    return {
        element("p", "Your token is in the file of --operators."),
        element(
            "form",
            {{"method", "post"}, {"action", "/sign-in"}, {"class", "act"}},
            {element(
                 "div",
                 {{"class", "field"}},
                 {element("label", {{"for", "token"}}, "Token"),
                  empty_element(
                      "input",
                      {{"id", "token"},
                       {"name", "token"},
                       {"type", "password"},
                       {"autocomplete", "current-password"},
                       {"required", ""}}
                  )}
             ),
             element("button", {{"type", "submit"}}, "Sign in")}
        )};
}

Reply sign_in_page(int status, std::string message = {}) {
    return page_reply(
        {.status = status,
         .title = "Sign in",
         .content = sign_in_form(),
         .message = std::move(message)}
    );
}

std::string too_many_tries(std::chrono::seconds wait) {
    return "There were too many wrong tokens from your network: wait " +
           std::to_string(wait.count()) + " s.";
}

Reply with_wait(Reply reply, std::chrono::seconds wait) {
    reply.headers.push_back({"Retry-After", std::to_string(wait.count())});
    return reply;
}

}  // namespace

struct Page::Impl {
    Impl(Service& on, PageOptions options)
        : service{on},
          gate{std::move(options), on.engine().clock(), on.engine().random()},
          pool{limits} {}

    Reply answer(const Request& request) {
        const std::string_view path = request.head.path;
        if (path.starts_with(api) && (path.size() == api.size() || path[api.size()] == '/'))
            return answer_api(request, path.substr(api.size()));
        if (auto file = file_at(path)) return std::move(*file);
        if (gate.is_from_program(request.head))
            return error_json({404, "This is a page for browsers; programs use /api."});
        if (path == "/sign-in") return sign_in(request);
        auto visitor = gate.of_page(request.head);
        if (!visitor) return sign_in_page(path == "/" ? 200 : 401);
        auto reply = answer_page(request, *visitor);
        if (!visitor->set_cookie.empty())
            reply.headers.push_back({"Set-Cookie", visitor->set_cookie});
        return reply;
    }

    Reply answer_api(const Request& request, std::string_view path) {
        auto entry = gate.of_api(request.head);
        if (const auto* refused = std::get_if<NotLetIn>(&entry)) {
            if (refused->wait)
                return with_wait(error_json({429, too_many_tries(*refused->wait)}), *refused->wait);
            auto reply =
                error_json({401, "Send the token of an operator as Authorization: Bearer."});
            reply.headers.push_back({"WWW-Authenticate", "Bearer realm=\"pawl\""});
            return reply;
        }
        const auto* visitor = &std::get<Visitor>(entry);
        try {
            if (path.empty()) path = "/";
            if (is_get(request.head)) {
                const auto [view, id] = find(views(), path);
                if (view == nullptr) throw Refused{404, "There is no such path."};
                return json_reply(
                    200, read(*view, asked(*visitor, id, fields_of(request.head.query)))
                );
            }
            return json_reply(200, act(request, *visitor, path, form_of(request)).data);
        } catch (...) {
            return error_json(refusal_of(std::current_exception()));
        }
    }

    Reply answer_page(const Request& request, const Visitor& visitor) {
        try {
            if (is_get(request.head)) return show(request.head, visitor);
            auto form = form_of(request);
            if (!from_own_page(request.head, *visitor.session, form.text_or("form_token", "")))
                throw Refused{
                    403,
                    "The form is not of your session. Nothing was changed: go back and reload."};
            if (request.head.path == "/sign-out") return sign_out(request.head);
            auto done = act(request, visitor, request.head.path, std::move(form));
            if (!done.shown.empty())
                return whole(
                    visitor, request.head.path, 200, std::move(done.title), std::move(done.shown)
                );
            gate.tell(visitor, std::move(done.message));
            return see_other(std::move(done.next));
        } catch (...) {
            const auto refused = refusal_of(std::current_exception());
            return whole(
                visitor, request.head.path, refused.status, "That did not work", alert(refused)
            );
        }
    }

    Reply show(const RequestHead& head, const Visitor& visitor) {
        const auto [view, id] = find(views(), head.path);
        if (view == nullptr) throw Refused{404, "There is no such page."};
        const auto on = asked(visitor, id, fields_of(head.query));
        auto title = std::string{view->title} + (id.empty() ? "" : " " + id);
        auto [status, content] = shown(*view, on);
        return page_reply(
            {.status = status,
             .title = std::move(title),
             .path = head.path,
             .content = std::move(content),
             .message = visitor.session->message,
             .who = visitor.who,
             .form_token = visitor.session->form_token,
             .live = true}
        );
    }

    Done act(const Request& request, const Visitor& visitor, std::string_view path, Fields fields) {
        if (request.head.method != "POST") throw Refused{405, "GET and POST are served here."};
        const auto [found, id] = find(acts(), path);
        if (found == nullptr) throw Refused{404, "There is no such act."};
        if (visitor.who.role < found->role)
            throw Refused{
                403,
                "This needs the role " + std::string{name_of(found->role)} + "; yours is " +
                    std::string{name_of(visitor.who.role)} + "."};
        return found->run(asked(visitor, id, std::move(fields)));
    }

    Asked asked(const Visitor& visitor, std::string id, Fields fields) {
        return {
            .service = service,
            .who = visitor.who,
            .id = std::move(id),
            .fields = std::move(fields),
            .form_token = visitor.session ? visitor.session->form_token : std::string{}};
    }

    static Reply whole(
        const Visitor& visitor, std::string path, int status, std::string title, Html content
    ) {
        return page_reply(
            {.status = status,
             .title = std::move(title),
             .path = std::move(path),
             .content = std::move(content),
             .who = visitor.who,
             .form_token = visitor.session->form_token}
        );
    }

    Reply sign_in(const Request& request) {
        if (is_get(request.head)) return sign_in_page(200);
        if (from_other_site(request.head))
            return sign_in_page(403, "Another site asked to sign you in. You were not.");
        try {
            const auto token = form_of(request).text_or("token", "");
            const auto entry = gate.sign_in(request.head, token);
            if (const auto* refused = std::get_if<NotLetIn>(&entry)) {
                if (!refused->wait) return sign_in_page(401, "No operator has this token.");
                return with_wait(sign_in_page(429, too_many_tries(*refused->wait)), *refused->wait);
            }
            auto reply = see_other("/");
            reply.headers.push_back({"Set-Cookie", std::get<Visitor>(entry).set_cookie});
            return reply;
        } catch (...) {
            const auto refused = refusal_of(std::current_exception());
            return sign_in_page(refused.status, refused.why);
        }
    }

    Reply sign_out(const RequestHead& head) {
        auto reply = see_other("/sign-in");
        reply.headers.push_back({"Set-Cookie", gate.sign_out(head)});
        return reply;
    }

    Service& service;
    Gate gate;
    Threads pool;  // Last: its threads use the others.
};

Page::Page(Service& service, PageOptions options)
    : impl_{std::make_unique<Impl>(service, std::move(options))} {}
Page::~Page() = default;

void Page::answer(http::Request request, http::Responder respond) {
    // std::function copies what it holds.
    auto shared = std::make_shared<std::pair<Request, http::Responder>>(
        std::move(request), std::move(respond)
    );
    auto sender = impl_->gate.sender_of(shared->first.head);
    const bool added = impl_->pool.add(std::move(sender), [impl = impl_.get(), shared] {
        store::read_max = query_max;
        shared->second(impl->answer(shared->first));
    });
    if (!added)
        shared->second(error_json({503, "Many requests to this page wait: try again in a second."})
        );
}

}  // namespace pawl::page
