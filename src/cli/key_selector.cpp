#include "src/cli/key_selector.hpp"

#include "src/cli/read_rows.hpp"
#include "src/ops/key_search.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

constexpr int searched_max = 1'000;  // The search has no more rows of one key.

[[noreturn]] void refuse_unknown(const KeySelector& which) {
    throw CommandFailed{
        "there is no key \"" + which.key.value_or("") + "\"" +
        (which.account ? " of " + *which.account : std::string{}) +
        (which.account && which.tenant
             ? "."
             : ". An expired key is found with --account and --tenant, or if its account has a "
               "live key")};
}

}  // namespace

std::string name_of(std::int64_t id) {
    return "key " + std::to_string(id);
}

std::int64_t id_of(Service& service, const KeySelector& which) {
    if (which.id && !which.key) return *which.id;
    const ops::KeySearch wanted{
        .key = which.key,
        .account = which.account,
        .tenant = which.tenant,
        .limit = which.id ? searched_max : 10};
    const auto found = store::read_now(service.engine().store(), [&](store::Session& session) {
        return ops::search_keys(session, wanted).rows;
    });
    if (found.empty()) refuse_unknown(which);
    if (which.id) {
        for (const auto& [row, damage] : found)
            if (row.id == *which.id) return row.id;
        throw CommandFailed{
            "id " + std::to_string(*which.id) + " and key \"" + *which.key +
            "\" are of two requests"};
    }
    if (found.size() == 1) return found.front().row.id;
    std::string ids;
    for (const auto& [row, damage] : found)
        ids += " " + std::to_string(row.id) + " (" + row.account.value_or("expired") + ")";
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
