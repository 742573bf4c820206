#include "src/ops/key_search.hpp"

#include <pawl/detail/reflect.hpp>
#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/base/time_text.hpp"
#include "src/core/ascii.hpp"
#include "src/engine/key_row.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pawl::ops {

namespace {

using Text = std::optional<std::string>;

constexpr int ids_max = 1'000;
constexpr int accounts_max = 3'000;  // To try a hash takes about 10 us.

// Bounds of all times, so that a statement always compares with the index. On PostgreSQL a damaged
// row may have an infinite time; SQLite compares texts, so these are beyond those that are times.
constexpr std::string_view before_all = "-infinity";
constexpr std::string_view after_all = "infinity";
// The times that both databases can hold.
constexpr TimePoint first_time = std::chrono::sys_days{std::chrono::year{1} / 1 / 1};
constexpr TimePoint last_time = std::chrono::sys_days{std::chrono::year{9999} / 12 / 31};

struct Account {
    std::string tenant;
    std::string account;
};

FoundRow found_row(const detail::Row& row, std::string_view statement) {
    store::DamagedRow values{row, statement};
    FoundRow found;
    int column = 0;
    detail::for_each_field(found.row, [&](std::string_view name, auto& field) {
        field = values.column<std::remove_cvref_t<decltype(field)>>(column++, name);
    });
    found.damage = values.damage();
    return found;
}

template <class... A>
std::vector<FoundRow> find(store::Session& session, const Sql& statement, const A&... arguments) {
    const auto read = [&](const detail::Row& row) { return found_row(row, statement.name); };
    return detail::read_rows(session, statement, read, arguments...);
}

template <class R, class... A>
std::vector<R> read(store::Session& session, const Sql& statement, const A&... arguments) {
    const auto row_of = [&](const detail::Row& row) {
        return detail::row_as<R>(row, statement.name);
    };
    return detail::read_rows(session, statement, row_of, arguments...);
}

// A pattern for LIKE, whose escape character is `!`.
Text pattern_of(const Text& part) {
    if (!part) return std::nullopt;
    std::string pattern{"%"};
    for (const char c : *part) {
        if (c == '%' || c == '_' || c == '!') pattern += '!';
        pattern += core::lower(c);
    }
    return pattern + '%';
}

std::string since_of(const KeySearch& wanted) {
    if (!wanted.since) return std::string{before_all};
    return detail::text_of_time(std::max(*wanted.since, first_time));
}

// The upper bound of the result; ids begin with 1.
struct Bound {
    std::string at;
    std::int64_t id{};
};
Bound before(const KeySearch& wanted) {
    const auto& until = wanted.until;
    const auto& after = wanted.after;
    if (after && (!until || after->at < *until))
        return {detail::text_of_time(after->at), after->id};
    if (until) return {detail::text_of_time(std::min(*until, last_time)), 0};
    return {std::string{after_all}, std::numeric_limits<std::int64_t>::max()};
}

template <class... A>
std::vector<FoundRow> find_live_by(
    store::Session& session, const KeySearch& wanted, const Sql& statement, const A&... more
) {
    const auto upper = before(wanted);
    return find(
        session,
        statement,
        wanted.state,
        wanted.operation,
        wanted.tenant,
        wanted.account,
        wanted.key,
        wanted.point,
        pattern_of(wanted.error),
        since_of(wanted),
        upper.at,
        upper.id,
        wanted.limit,
        more...
    );
}

bool is_unsettled(const KeySearch& wanted) {
    return wanted.error || (wanted.state && *wanted.state != "finished") ||
           (wanted.point && *wanted.point != "finished");
}

// The statement that reads the fewest rows.
const Sql& statement_for(const KeySearch& wanted) {
    if (wanted.key) return sql::search_keys_by_key;
    if (is_unsettled(wanted)) return sql::search_unsettled_keys;
    if (wanted.account) return sql::search_keys_by_account;
    if (wanted.operation) return sql::search_keys_by_operation;
    return sql::search_keys_by_time;
}

// The accounts that a search by the client's key covers.
std::vector<Account> accounts_to_try(store::Session& session, const KeySearch& wanted) {
    if (wanted.tenant && wanted.account) return {{*wanted.tenant, *wanted.account}};
    auto accounts = read<Account>(session, sql::list_accounts, accounts_max);
    if (wanted.account) {
        for (auto& known : accounts) known.account = *wanted.account;
        accounts.push_back({wanted.tenant.value_or(""), *wanted.account});
    }
    if (wanted.tenant)
        std::erase_if(accounts, [&](const auto& known) { return known.tenant != *wanted.tenant; });
    return accounts;
}

// For an expired key the registry holds only a hash, so each account is tried. One hash is for the
// account's own key, the other for a key that the whole tenant shares.
std::vector<std::int64_t> expired_ids(
    store::Session& session, const KeySearch& wanted, const std::string& key
) {
    std::set<std::string> hashes;
    for (const auto& [tenant, account] : accounts_to_try(session, wanted))
        for (const auto& of : {account, std::string{}})
            hashes.insert(engine::key_hash({.tenant = tenant, .account = of, .key = key}));
    return read<std::int64_t>(
        session, sql::find_expired_ids, to_json(std::vector(hashes.begin(), hashes.end()))
    );
}

// Whether the search has only criteria that an expired key still has.
bool may_be_expired(const KeySearch& wanted) {
    if (wanted.state && *wanted.state != "expired") return false;
    if (wanted.operation || wanted.point || wanted.error) return false;
    return wanted.key || !(wanted.account || wanted.tenant);
}

void keep_common(std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& others) {
    std::erase_if(ids, [&](auto id) { return std::ranges::count(others, id) == 0; });
}

// nullopt: neither a text nor a reference is wanted.
using NamedIds = std::optional<std::vector<std::int64_t>>;

NamedIds named_ids(store::Session& session, const KeySearch& wanted) {
    NamedIds ids;
    if (wanted.text)
        ids = read<std::int64_t>(session, sql::find_keys_by_text, *wanted.text, ids_max);
    if (const auto& of = wanted.reference) {
        auto found =
            read<std::int64_t>(session, sql::find_keys_by_reference, of->id, of->name, ids_max);
        if (ids) keep_common(found, *ids);
        ids = std::move(found);
    }
    return ids;
}

std::vector<FoundRow> find_live(
    store::Session& session, const KeySearch& wanted, const NamedIds& ids
) {
    if (wanted.state == "expired") return {};
    if (ids) return find_live_by(session, wanted, sql::search_keys_by_id, to_json(*ids));
    return find_live_by(session, wanted, statement_for(wanted));
}

std::vector<FoundRow> find_expired(store::Session& session, const KeySearch& wanted, NamedIds ids) {
    const auto upper = before(wanted);
    const auto since = since_of(wanted);
    const auto limit = wanted.limit;
    if (wanted.key) {
        auto of_key = expired_ids(session, wanted, *wanted.key);
        if (ids) keep_common(of_key, *ids);
        ids = std::move(of_key);
    } else if (wanted.text && ids->empty() && !wanted.reference) {
        const auto of_key = expired_ids(session, wanted, *wanted.text);
        ids->insert(ids->end(), of_key.begin(), of_key.end());
    }
    if (!ids) return find(session, sql::search_expired_by_time, since, upper.at, upper.id, limit);
    const auto list = to_json(*ids);
    return find(session, sql::search_expired_by_id, since, upper.at, upper.id, limit, list);
}

// Whether expired keys are part of the result, behind the live ones on its first page. A key
// has one row for an account, so an expired one is sought only if there is no live one.
bool wants_expired(const KeySearch& wanted, const NamedIds& ids, bool found_live) {
    if (!may_be_expired(wanted)) return false;
    if (wanted.state) return true;
    if (wanted.after) return false;
    return wanted.key ? !found_live : ids.has_value();
}

// The place of the last row, if there may be more.
std::optional<KeyPlace> next_place(const std::vector<FoundRow>& rows, int limit) {
    if (std::ssize(rows) < limit) return std::nullopt;
    const auto& last = rows.back().row;
    const auto& at = last.created_at ? last.created_at : last.expired_at;
    const auto time = at ? base::time_from_text(*at) : std::nullopt;
    if (!time) return std::nullopt;  // The row is damaged.
    return KeyPlace{*time, last.id};
}

}  // namespace

FoundKeys search_keys(store::Session& session, const KeySearch& wanted) {
    const auto ids = named_ids(session, wanted);
    FoundKeys found{find_live(session, wanted, ids), {}};
    found.next = next_place(found.rows, wanted.limit);
    if (!wants_expired(wanted, ids, !found.rows.empty())) return found;
    auto expired = find_expired(session, wanted, ids);
    if (wanted.state) found.next = next_place(expired, wanted.limit);
    std::move(expired.begin(), expired.end(), std::back_inserter(found.rows));
    return found;
}

std::optional<KeyPlace> place_of_key(store::Session& session, std::int64_t id) {
    const auto found = read<TimePoint>(session, sql::find_place_of_key, id);
    if (found.empty()) return std::nullopt;
    return KeyPlace{found.front(), id};
}

}  // namespace pawl::ops
