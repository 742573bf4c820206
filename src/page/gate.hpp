#pragma once

#include <pawl/request_head.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/core/quota.hpp"
#include "src/page/operators_file.hpp"
#include "src/page/options.hpp"
#include "src/page/sessions.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::page {

// A request's person, and the session of their browser; the API needs none.
struct Visitor {
    Operator who;
    std::optional<Session> session{};
    std::string set_cookie{};  // Of a session that has begun with this request.
};

// Decides who asks: by a token, by a trusted proxy's header, or by the cookie of a session.
// Thread-safe.
class Gate {
public:
    // Clock and random outlive it. Throws what OperatorsFile throws.
    Gate(PageOptions options, base::Clock& clock, base::Random& random);

    // Of the API: `Authorization: Bearer TOKEN`, or the proxy's header.
    std::optional<Visitor> of_api(const RequestHead& head);
    // Of the page: the session's cookie. A proxy's header must name its person; without a session
    // it begins one.
    std::optional<Visitor> of_page(const RequestHead& head);
    // nullopt: no operator has this token. Refuses (a time in seconds) an address with many tries.
    std::optional<Visitor> sign_in(const RequestHead& head, std::string_view token);
    std::optional<std::chrono::seconds> refuse_try(const RequestHead& head);
    std::string sign_out(const RequestHead& head);  // The cookie that ends it.
    void tell(const Visitor& visitor, std::string message);

private:
    bool by_proxy(const RequestHead& head) const;
    std::optional<Operator> named_by_proxy(const RequestHead& head);
    Visitor begin(const RequestHead& head, Operator who);
    std::string cookie(const RequestHead& head, std::string_view value, bool ends) const;

    PageOptions options_;
    base::Clock& clock_;
    OperatorsFile operators_;
    Sessions sessions_;
    std::mutex mutex_;
    std::map<std::string, core::TenantUse, std::less<>> tries_;  // By address.
};

// Whether our own page sent the form: its token is the session's, and the browser does not say that
// another site did.
bool from_own_page(const RequestHead& head, const Session& session, std::string_view form_token);
// The value of a cookie of this name.
std::optional<std::string_view> cookie_of(const RequestHead& head, std::string_view name);

}  // namespace pawl::page
