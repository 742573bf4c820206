#include "src/page/gate.hpp"

#include <pawl/bearer_token.hpp>

#include "src/base/log.hpp"
#include "src/json/hash.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace pawl::page {

namespace {

constexpr std::string_view cookie_name = "pawl_operator";
constexpr std::size_t addresses_max = 10'000;
// Ten tries of a token at once, then one each 6 s.
constexpr core::QuotaRule tries{.token_each = std::chrono::seconds{6}, .burst = 10};

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

bool from_own_page(const RequestHead& head, const Session& session, std::string_view form_token) {
    const auto site = head.header("Sec-Fetch-Site").value_or("same-origin");
    if (site != "same-origin" && site != "none") return false;
    if (const auto origin = head.header("Origin")) {
        const auto host = origin->find("://");
        if (host == origin->npos || origin->substr(host + 3) != head.header("Host").value_or(""))
            return false;
    }
    return json::same_bytes(form_token, session.form_token);
}

Gate::Gate(PageOptions options, base::Clock& clock, base::Random& random)
    : options_{std::move(options)},
      clock_{clock},
      operators_{options_.operators_file},
      sessions_{random} {}

bool Gate::by_proxy(const RequestHead& head) const {
    return std::ranges::find(options_.proxies, head.client_address) != options_.proxies.end();
}

std::optional<Operator> Gate::named_by_proxy(const RequestHead& head) {
    if (options_.user_header.empty() || !by_proxy(head)) return std::nullopt;
    const auto name = head.header(options_.user_header);
    return name ? operators_.now().by_name(*name) : std::nullopt;
}

std::optional<Visitor> Gate::of_api(const RequestHead& head) {
    if (const auto token = bearer_token(head)) {
        if (auto who = operators_.now().by_token(*token)) return Visitor{std::move(*who)};
        return std::nullopt;
    }
    // A browser sends the proxy's header with other sites' forms, too, but not with this one.
    if (!head.header("X-Requested-With")) return std::nullopt;
    if (auto who = named_by_proxy(head)) return Visitor{std::move(*who)};
    return std::nullopt;
}

std::optional<Visitor> Gate::of_page(const RequestHead& head) {
    auto named = named_by_proxy(head);
    const auto id = cookie_of(head, cookie_name);
    if (auto session = id ? sessions_.find(*id, clock_.now()) : std::nullopt) {
        auto who = operators_.now().by_name(session->name);
        const bool theirs = options_.user_header.empty() || !by_proxy(head) || named == who;
        if (who && theirs) return Visitor{std::move(*who), std::move(session)};
    }
    if (named) return begin(head, std::move(*named));
    return std::nullopt;
}

std::optional<std::chrono::seconds> Gate::refuse_try(const RequestHead& head) {
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    if (tries_.size() >= addresses_max)
        std::erase_if(tries_, [now](const auto& one) {
            return core::is_forgettable(one.second, now);
        });
    auto& use = tries_[head.client_address];
    const auto decided = core::decide_admission(tries, use, 0, now);
    if (const auto* refused = std::get_if<core::OverQuota>(&decided)) return refused->retry_after;
    use.full_at = std::get<core::TenantUse>(decided).full_at;
    return std::nullopt;
}

std::optional<Visitor> Gate::sign_in(const RequestHead& head, std::string_view token) {
    auto who = operators_.now().by_token(token);
    if (!who) {
        log::limited_warning(
            "operator_refused", {}, {{"address", head.client_address}}, log::burst_of_names
        );
        return std::nullopt;
    }
    return begin(head, std::move(*who));
}

Visitor Gate::begin(const RequestHead& head, Operator who) {
    log::info(
        "operator_signed_in",
        {{"operator", who.name},
         {"role", std::string{name_of(who.role)}},
         {"address", head.client_address}}
    );
    auto session = sessions_.begin(who.name, clock_.now());
    auto made = cookie(head, session.id, false);
    return {std::move(who), std::move(session), std::move(made)};
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
