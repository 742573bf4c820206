#include "src/cli/key_selector.hpp"

#include "src/cli/read_rows.hpp"
#include "src/engine/key_row.hpp"
#include "store/statements.hpp"

#include <boost/json/serialize.hpp>

#include <set>
#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

struct Id {
    std::int64_t id{};
};

struct Account {
    std::string tenant;
    std::string account;
};

constexpr int accounts_max = 10'000;

// The accounts that a search by the client's key covers.
std::vector<Account> accounts_to_try(Service& service, const KeySelector& which) {
    if (which.tenant && which.account) return {{*which.tenant, *which.account}};
    std::vector<Account> accounts;
    const auto fits = [](const Text& wanted, const std::string& found) {
        return !wanted || *wanted == found;
    };
    for (auto& [known, damage] : read<Account>(service, sql::list_accounts, accounts_max)) {
        if (which.account) known.account = *which.account;
        if (fits(which.tenant, known.tenant)) accounts.push_back(std::move(known));
    }
    if (which.account) accounts.push_back({which.tenant.value_or(""), *which.account});
    return accounts;
}

// For an expired key the registry holds only a hash, so each account is tried. One hash is for the
// account's own key, the other for a key that the whole tenant shares.
std::vector<std::int64_t> expired_ids(Service& service, const KeySelector& which) {
    const auto key = which.key.value_or("");
    std::set<std::string> hashes;
    for (const auto& [tenant, account] : accounts_to_try(service, which))
        for (const auto& of : {account, std::string{}})
            hashes.insert(engine::key_hash({.tenant = tenant, .account = of, .key = key}));
    boost::json::array list;
    for (const auto& hash : hashes) list.emplace_back(hash);
    std::vector<std::int64_t> ids;
    const auto text = boost::json::serialize(list);
    for (const auto& [row, damage] : read<Id>(service, sql::find_expired_ids, text))
        ids.push_back(row.id);
    return ids;
}

std::int64_t expired_id_of(Service& service, const KeySelector& which) {
    const auto ids = expired_ids(service, which);
    const auto key = "\"" + which.key.value_or("") + "\"";
    if (ids.size() == 1) return ids.front();
    if (ids.empty())
        throw CommandFailed{
            "there is no key " + key + (which.account ? " of " + *which.account : std::string{}) +
            (which.account && which.tenant
                 ? "."
                 : ". An expired key is found if its account has had a request in the last 72 h, "
                   "or with --account and --tenant")};
    std::string list;
    for (const auto id : ids) list += " " + std::to_string(id);
    throw CommandFailed{"several expired keys match " + key + "; give an id:" + list};
}

}  // namespace

std::string name_of(std::int64_t id) {
    return "key " + std::to_string(id);
}

std::int64_t id_of(Service& service, const KeySelector& which) {
    if (which.id) return *which.id;
    const Text none;
    const std::optional<std::int64_t> any;
    auto found =
        read<KeyLine>(service, sql::list_keys, none, none, which.account, which.key, any, 10);
    if (which.tenant)
        std::erase_if(found, [&](const auto& line) { return line.row.tenant != *which.tenant; });
    if (found.empty()) return expired_id_of(service, which);
    if (found.size() == 1) return found.front().row.id;
    std::string ids;
    for (const auto& [row, damage] : found)
        ids += " " + std::to_string(row.id) + " (" + row.account + ")";
    throw CommandFailed{"several keys match \"" + *which.key + "\"; give an id:" + ids};
}

std::optional<Line<ExpiredKey>> expired_key(Service& service, std::int64_t id) {
    auto rows = read<ExpiredKey>(service, sql::show_expired, id);
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

[[noreturn]] void no_such_key(std::int64_t id) {
    throw CommandFailed{"there is no " + name_of(id)};
}

}  // namespace pawl::cli
