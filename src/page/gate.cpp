#include "src/page/gate.hpp"

#include <pawl/bearer_token.hpp>

#include "src/base/log.hpp"
#include "src/http/address_prefix.hpp"
#include "src/http/negotiation.hpp"
#include "src/json/hash.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pawl::page {

namespace {

constexpr std::string_view cookie_name = "pawl_operator";

void log_refused(const RequestHead& head, std::string_view why) {
    log::limited_warning(
        "operator_refused",
        std::string{why},
        {{"why", why}, {"address", head.client_address}},
        log::burst_of_names
    );
}

}  // namespace

std::optional<std::string_view> cookie_of(const RequestHead& head, std::string_view name) {
    auto rest = head.header("Cookie").value_or("");
    while (!rest.empty()) {
        const auto end = std::min(rest.find(';'), rest.size());
        auto pair = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
        if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
            return pair.substr(name.size() + 1);
    }
    return std::nullopt;
}

bool from_other_site(const RequestHead& head) {
    if (head.count("Sec-Fetch-Site") > 0) {
        const auto site = head.header("Sec-Fetch-Site").value_or("");
        if (site != "same-origin" && site != "none") return true;
    }
    if (head.count("Origin") == 0) return false;
    const auto origin = head.header("Origin").value_or("");
    const auto host = origin.find("://");
    return host == origin.npos || origin.substr(host + 3) != head.header("Host").value_or("");
}

bool from_own_page(const RequestHead& head, const Session& session, std::string_view form_token) {
    return !from_other_site(head) && json::same_bytes(form_token, session.form_token);
}

Gate::Gate(PageOptions options, base::Clock& clock, base::Random& random)
    : options_{std::move(options)},
      proxies_{options_.proxies},
      clock_{clock},
      operators_{options_.operators_file},
      sessions_{random} {}

bool Gate::by_proxy(const RequestHead& head) const {
    return proxies_.contains(head.peer_address);
}

bool Gate::is_from_program(const RequestHead& head) const {
    const bool added = !options_.user_header.empty() && by_proxy(head);
    return http::has_json_body(head) || (http::has_bearer(head) && !added);
}

std::optional<Operator> Gate::named_by_proxy(const RequestHead& head) {
    if (options_.user_header.empty() || !by_proxy(head)) return std::nullopt;
    const auto name = head.header(options_.user_header);
    return name ? operators_.now()->by_name(*name) : std::nullopt;
}

std::variant<Operator, NotLetIn> Gate::by_token(const RequestHead& head, std::string_view token) {
    const SignInLimit::Try attempt{head.client_address, {}, token};
    if (const auto wait = limit_.begin(attempt, clock_.steady())) {
        log_refused(head, "too many wrong tokens");
        return NotLetIn{wait};
    }
    auto who = operators_.now()->by_token(token);
    if (!who) {
        limit_.wrong(attempt);
        log_refused(head, "no operator has this token");
        return NotLetIn{};
    }
    limit_.right(attempt);
    return std::move(*who);
}

Entry Gate::of_api(const RequestHead& head) {
    if (const auto token = bearer_token(head)) {
        auto found = by_token(head, *token);
        if (const auto* refused = std::get_if<NotLetIn>(&found)) return *refused;
        return Visitor{std::get<Operator>(std::move(found))};
    }
    // A browser sends the proxy's header with other sites' forms, too, but not with this one.
    if (!head.header("X-Requested-With")) return NotLetIn{};
    if (auto who = named_by_proxy(head)) return Visitor{std::move(*who)};
    return NotLetIn{};
}

std::optional<Visitor> Gate::of_page(const RequestHead& head) {
    auto named = named_by_proxy(head);
    const auto id = cookie_of(head, cookie_name);
    if (auto session = id ? sessions_.find(*id, clock_.now()) : std::nullopt) {
        const auto operators = operators_.now();
        auto who = operators->by_name(session->name);
        const bool replaced = who && operators->token_hash_of(who->name) != session->token_hash;
        if (replaced) sessions_.end(*id);
        const bool theirs = options_.user_header.empty() || !by_proxy(head) || named == who;
        if (who && theirs && !replaced) return Visitor{std::move(*who), std::move(session)};
    }
    if (named) return begin(head, std::move(*named));
    return std::nullopt;
}

Entry Gate::sign_in(const RequestHead& head, std::string_view token) {
    auto found = by_token(head, token);
    if (const auto* refused = std::get_if<NotLetIn>(&found)) return *refused;
    return begin(head, std::get<Operator>(std::move(found)));
}

Visitor Gate::begin(const RequestHead& head, Operator who) {
    log::limited_info(
        "operator_signed_in",
        who.name,
        {{"operator", who.name},
         {"role", std::string{name_of(who.role)}},
         {"address", head.client_address}},
        log::burst_of_names
    );
    auto token_hash = operators_.now()->token_hash_of(who.name);
    auto session = sessions_.begin(who.name, std::move(token_hash), clock_.now());
    auto made = cookie(head, session.id, false);
    return {std::move(who), std::move(session), std::move(made)};
}

std::string Gate::sender_of(const RequestHead& head) {
    const auto known = operators_.last_read();
    auto who = std::optional<Operator>{};
    if (const auto token = bearer_token(head))
        who = known->by_token(*token);
    else if (const auto id = cookie_of(head, cookie_name))
        who = known->by_name(sessions_.name_of(*id));
    if (who) return "operator " + who->name;
    return "network " + std::to_string(std::uint64_t(http::address_prefix(head.client_address)));
}

std::string Gate::cookie(const RequestHead& head, std::string_view value, bool ends) const {
    auto text =
        std::string{cookie_name} + '=' + std::string{value} + "; Path=/; HttpOnly; SameSite=Strict";
    if (ends) text += "; Max-Age=0";
    // Behind a proxy with TLS; on loopback there is none.
    if (by_proxy(head) && head.header("X-Forwarded-Proto") == "https") text += "; Secure";
    return text;
}

std::string Gate::sign_out(const RequestHead& head) {
    if (const auto id = cookie_of(head, cookie_name)) sessions_.end(*id);
    return cookie(head, "", true);
}

void Gate::tell(const Visitor& visitor, std::string message) {
    if (visitor.session) sessions_.tell(visitor.session->id, std::move(message));
}

}  // namespace pawl::page
