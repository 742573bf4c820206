#include "src/engine/server_settings.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "store/statements.hpp"

#include <charconv>
#include <chrono>

namespace pawl::engine {

namespace {

using namespace std::chrono_literals;
using detail::column_as;

// Three missed beats. A server that is killed right after its start has no lock in its row yet.
constexpr auto silent_max = 1s;

struct List {
    std::vector<core::Setting> settings;
};

struct FoundServer {
    RunningServer server;
    TimePoint seen_at;
    std::optional<std::int64_t> session_lock;
};

bool runs(store::Session& session, const store::Store& store, const FoundServer& found) {
    if (store.serves_one_process()) return true;
    if (found.session_lock) return !session.try_lock_name(*found.session_lock);
    return session.now() - found.seen_at < silent_max;
}

}  // namespace

std::vector<RunningServer> running_servers(store::Session& session, const store::Store& store) {
    std::vector<FoundServer> found;
    detail::run_statement(session, sql::list_server_settings, [&](const detail::Row& row) {
        const auto& of = sql::list_server_settings.name;
        if (store.server() == row.integer(0)) return;
        found.push_back(
            {{.id = row.integer(0),
              .host = std::string{row.text(1)},
              .settings = row.is_null(4) ? core::Settings{} : parse_settings(row.text(4))},
             column_as<TimePoint>(row, 2, of),
             column_as<std::optional<std::int64_t>>(row, 3, of)}
        );
    });
    std::vector<RunningServer> running;
    for (auto& one : found)
        if (runs(session, store, one)) running.push_back(std::move(one.server));
    return running;
}

std::string to_text(const core::Settings& settings) {
    return to_json(List{settings});
}

core::Settings parse_settings(std::string_view text) {
    auto list = from_json<List>(text);
    return list ? std::move(list->settings) : core::Settings{};
}

std::vector<core::SettingDifference> compare_with(
    const core::Settings& here, const std::vector<RunningServer>& others
) {
    std::vector<core::ServerSettings> settings;
    settings.reserve(others.size());
    for (const auto& other : others) settings.push_back({other.id, other.settings});
    return core::compare_settings(here, settings);
}

std::optional<int> secret_version(const core::Settings& settings) {
    const auto* text = core::find_setting(settings, secret_version_setting);
    if (text == nullptr) return std::nullopt;
    int version = 0;
    const auto* const end = text->data() + text->size();
    const auto [at, wrong] = std::from_chars(text->data(), end, version);
    return wrong == std::errc{} && at == end ? std::optional{version} : std::nullopt;
}

}  // namespace pawl::engine
