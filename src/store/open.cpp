#include "src/store/open.hpp"

#include "src/base/clock.hpp"
#include "src/base/log.hpp"
#include "src/base/log_file.hpp"
#include "src/base/random.hpp"
#include "src/base/url.hpp"
#include "src/store/memory/memory_store.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace pawl::store {

namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

// A command runs one thing and ends; a server beside it may need all other connections.
constexpr int connections_of_a_command = 2;

std::unique_ptr<Store> open_postgres(const std::string& url, Database::As as) {
    postgres::PostgresOptions defaults;
    base::OnWarning on_warning;  // Not set for commands: these warnings are for a server's log.
    if (as == Database::As::server)
        on_warning = log::warn;
    else
        defaults.connections = connections_of_a_command;
    return std::make_unique<postgres::PostgresStore>(
        postgres::options_of_url(url, std::move(defaults)),
        base::system_clock(),
        base::system_random(),
        std::move(on_warning)
    );
}

// A warning about the file means that the file is lost.
void log_error(const base::Warning& warning) {
    log::limited_error(warning.event, {{"code", warning.code}, {"detail", warning.detail}});
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& url, Database::As as) {
    auto& clock = base::system_clock();
    if (postgres::is_postgres_url(url)) return open_postgres(url, as);
    if (url == "memory:") return std::make_unique<memory::MemoryStore>(clock);
    if (!url.starts_with(sqlite_scheme) || url.size() == sqlite_scheme.size())
        throw std::invalid_argument{
            "the database " + base::without_password(url) +
            " has an unknown form; use sqlite:FILE (sqlite:rides.db), postgres://USER@HOST/NAME, "
            "or for tests memory:"};
    const auto file = url.substr(sqlite_scheme.size());
    const bool owner = as == Database::As::server || as == Database::As::migration;
    if (!owner && file != ":memory:" && !std::filesystem::exists(file))
        throw std::invalid_argument{
            "there is no database " + file + "; a server, or `migrate`, creates it"};
    sqlite::SqliteOptions options{.path = file, .owner = owner};
    // SQLite polls for the lock, so a busy server may get it many times before a command does.
    if (!owner) options.busy_timeout = std::chrono::seconds{30};
    auto store = std::make_unique<sqlite::SqliteStore>(
        std::move(options),
        clock,
        as == Database::As::server ? base::OnWarning{log_error} : base::OnWarning{}
    );
    if (as == Database::As::server)
        for (const auto* end : {"", "-wal", "-shm"})
            log::warn_if_others_can_read("database", file + end);
    return store;
}

std::string mark_file_of(const std::string& url) {
    if (!url.starts_with(sqlite_scheme) || url.ends_with(":memory:")) return {};
    const auto file = url.substr(sqlite_scheme.size());
    return std::filesystem::weakly_canonical(file).string() + ".mark";
}

}  // namespace pawl::store
