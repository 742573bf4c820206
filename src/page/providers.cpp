#include "src/page/providers.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/error_text.hpp"
#include "src/cli/output.hpp"
#include "src/cli/providers.hpp"
#include "src/cli/read_rows.hpp"
#include "src/engine/engine.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "store/statements.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace pawl::page {

using boost::json::array;
using boost::json::object;
using boost::json::value;

namespace {

constexpr int texts_max = 1'000;  // Different ones; the most frequent.

// The columns of list_provider_errors, in order.
struct ErrorRow {
    std::optional<std::string> call_target;
    std::string operation;
    std::string recovery_point;
    std::string error;
    std::int64_t count{};
    std::string last_at;
    std::int64_t key_id{};
};

bool is_at_call(const engine::Engine& engine, const ErrorRow& row) {
    const auto* operation = engine.find(row.operation);
    if (operation == nullptr) return false;
    const auto step = operation->step_from(row.recovery_point);
    return step && *step < operation->steps.size() && operation->steps[*step].foreign;
}

// As the log names it in provider_down; nullopt: the error is not a provider's.
std::optional<std::string> provider_of(const engine::Engine& engine, const ErrorRow& row) {
    if (row.call_target) return row.call_target;
    if (!is_at_call(engine, row)) return std::nullopt;
    return row.operation + " at " + row.recovery_point;
}

std::vector<ProviderError> errors_of(Service& service) {
    std::vector<ProviderError> errors;
    for (auto& [row, damage] : cli::read<ErrorRow>(service, sql::list_provider_errors, texts_max))
        if (auto provider = provider_of(service.engine(), row))
            errors.push_back(
                {std::move(*provider), std::move(row.error), row.count, row.last_at, row.key_id}
            );
    return errors;
}

}  // namespace

std::vector<ProviderError> grouped(const std::vector<ProviderError>& errors) {
    std::map<std::pair<std::string, std::string>, ProviderError> groups;
    for (const auto& one : errors) {
        auto kind = base::error_kind(one.error);
        auto& group = groups[{one.provider, kind}];
        group.provider = one.provider;
        group.error = std::move(kind);
        group.count += one.count;
        if (one.last_at < group.last_at) continue;
        group.last_at = one.last_at;
        group.key_id = one.key_id;
    }
    std::vector<ProviderError> sorted;
    for (auto& [name, group] : groups) sorted.push_back(std::move(group));
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
        return std::tie(a.provider, b.count) < std::tie(b.provider, a.count);
    });
    return sorted;
}

value read_providers(const Asked& asked) {
    array errors;
    for (const auto& group : grouped(errors_of(asked.service)))
        errors.push_back(object{
            {"provider", group.provider},
            {"count", group.count},
            {"error_kind", group.error},
            {"last_at", group.last_at},
            {"key_id", group.key_id}});
    return object{
        {"providers",
         printed([&](std::ostream& out) { cli::list_providers(asked.service, true, out); })},
        {"errors", errors}};
}

Html show_providers(const Asked&, const value& data) {
    const auto providers = table(
        "Providers",
        data.at("providers"),
        {{"provider waiting in_doubt attention oldest_call down_at down_since error"}},
        "No call waits for a provider, and no server keeps one from new payments."
    );
    const auto errors = table(
        "Errors by provider",
        data.at("errors"),
        {{"provider count error_kind last_at"},
         {"key_id", [](const object& row) { return key_link(row, "key_id"); }}},
        "No request that waits has an error of a provider."
    );
    return {providers, section("Errors of the requests that wait", errors)};
}

}  // namespace pawl::page
