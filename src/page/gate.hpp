#pragma once

#include <pawl/request_head.hpp>
#include <pawl/sign_in_limit.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/http/trusted_proxies.hpp"
#include "src/page/operators_file.hpp"
#include "src/page/options.hpp"
#include "src/page/sessions.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pawl::page {

// A request's person, and the session of their browser; the API needs none.
struct Visitor {
    Operator who;
    std::optional<Session> session{};
    std::string set_cookie{};  // Of a session that has begun with this request.
};

// Nobody: no operator has the token, or there were too many wrong ones.
struct NotLetIn {
    std::optional<std::chrono::seconds> wait{};  // Too many: how long to wait.
};
using Entry = std::variant<Visitor, NotLetIn>;

// Decides who asks: by a token, by a trusted proxy's header, or by the cookie of a session. Page
// and API share the limit of wrong tokens. Thread-safe.
class Gate {
public:
    // Clock and random outlive it. Throws what OperatorsFile throws.
    Gate(PageOptions options, base::Clock& clock, base::Random& random);

    // Of the API: `Authorization: Bearer TOKEN`, or the proxy's header.
    Entry of_api(const RequestHead& head);
    // Of the page: the session's cookie. A proxy's header must name its person; without a session
    // it begins one.
    std::optional<Visitor> of_page(const RequestHead& head);
    // Whether the answer must be JSON. A proxy that names its people may add a bearer token to the
    // navigations of their browsers.
    bool is_from_program(const RequestHead& head) const;
    Entry sign_in(const RequestHead& head, std::string_view token);
    std::string sign_out(const RequestHead& head);  // The cookie that ends it.
    void tell(const Visitor& visitor, std::string message);
    // Among whom the threads are shared: the operator, as far as that is known without a check, or
    // the client's network. Quick.
    std::string sender_of(const RequestHead& head);

private:
    bool by_proxy(const RequestHead& head) const;
    std::optional<Operator> named_by_proxy(const RequestHead& head);
    std::variant<Operator, NotLetIn> by_token(const RequestHead& head, std::string_view token);
    Visitor begin(const RequestHead& head, Operator who);
    std::string cookie(const RequestHead& head, std::string_view value, bool ends) const;

    PageOptions options_;
    http::TrustedProxies proxies_;
    base::Clock& clock_;
    OperatorsFile operators_;
    Sessions sessions_;
    SignInLimit limit_;
};

// Whether the browser says that a page of another site has sent this.
bool from_other_site(const RequestHead& head);
// Whether our own page sent the form: its token is the session's, too.
bool from_own_page(const RequestHead& head, const Session& session, std::string_view form_token);
// The value of a cookie of this name.
std::optional<std::string_view> cookie_of(const RequestHead& head, std::string_view name);

}  // namespace pawl::page
