#include "src/cli/top/snapshot.hpp"

#include <pawl/detail/rows.hpp>

#include "src/engine/engine.hpp"
#include "src/ops/stranded.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

namespace pawl::cli {

namespace {

using detail::Row;
using detail::run_statement;

constexpr int oldest_max = 10;
constexpr int errors_max = 1'000;  // Of unrecorded results, each with its own count.
constexpr int new_keys_max = 100'000;

void read_retries(store::Session& session, Snapshot& to) {
    run_statement(session, sql::count_retries, [&](const Row& row) {
        to.retries.push_back(detail::row_as<Snapshot::Retries>(row, sql::count_retries.name));
    });
}

// A row that does not decode is shown as far as it does.
void read_oldest(store::Session& session, Snapshot& to) {
    const auto read = [&](const Row& row) {
        to.oldest.push_back(line_of_row<Snapshot::OldKey>(row, sql::list_oldest_unsettled.name).row
        );
    };
    run_statement(session, sql::list_oldest_unsettled, read, oldest_max);
}

std::int64_t count_stranded(store::Session& session, const engine::Engine& engine) {
    std::int64_t stranded = 0;
    for (const auto& at : ops::stranded_points(session, engine)) stranded += at.keys;
    return stranded;
}

void read_new_keys(store::Session& session, TimePoint before, Snapshot& to) {
    const auto read = [&](const Row& row) {
        if (row.integer(0) < new_keys_max) to.new_keys = row.integer(0);
    };
    run_statement(session, sql::count_new_keys, read, before, to.at, new_keys_max);
}

}  // namespace

KeyCounts count_keys(store::Session& session, const engine::Engine* engine) {
    KeyCounts counts;
    run_statement(session, sql::summarise_open_keys, [&](const Row& row) {
        counts.open = row.integer(0);
        counts.oldest_open =
            detail::column_as<std::optional<TimePoint>>(row, 1, sql::summarise_open_keys.name);
        counts.stuck = row.integer(2);
        counts.held = row.integer(3);
    });
    const auto add_unrecorded = [&](const Row& row) { counts.unrecorded += row.integer(0); };
    run_statement(session, sql::count_unrecorded_results, add_unrecorded, errors_max);
    run_statement(session, sql::count_attention, [&](const Row& row) {
        counts.attention.push_back(detail::row_as<KeyCounts::Reason>(row, sql::count_attention.name)
        );
    });
    if (engine != nullptr) counts.stranded = count_stranded(session, *engine);
    return counts;
}

Snapshot read_snapshot(Service& service, bool knows_operations, std::optional<TimePoint> before) {
    auto& engine = service.engine();
    auto snapshot = store::read_now(engine.store(), [&](store::Session& session) {
        Snapshot to{count_keys(session, knows_operations ? &engine : nullptr)};
        to.at = session.now();
        read_retries(session, to);
        read_oldest(session, to);
        if (before) read_new_keys(session, *before, to);
        return to;
    });
    snapshot.queues = read_queues(service);
    snapshot.providers = read_providers(service);
    snapshot.servers = read_servers(service);
    return snapshot;
}

}  // namespace pawl::cli
