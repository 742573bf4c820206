#include <pawl/database.hpp>

#include "src/base/clock.hpp"
#include "src/base/log.hpp"
#include "src/base/log_file.hpp"
#include "src/base/random.hpp"
#include "src/base/url.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/ops/database_jobs.hpp"
#include "src/store/blocking.hpp"
#include "src/store/memory/memory_store.hpp"
#include "src/store/migrate.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"

#include <filesystem>
#include <stdexcept>

namespace pawl {

struct Database::Impl {
    Database::Jobs jobs;  // Outlives the store.
    std::string mark_file;
    std::unique_ptr<store::Store> store;
};

Database::Database(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Database::~Database() = default;

namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

// A tool creates no tables: the database may belong to another program.
void check_has_tables(store::Store& store, const std::string& url) {
    bool found = false;
    store::read_now(store, [&](store::Session& session) {
        session.run(sql::find_tables, {}, [&](const detail::Row&) { found = true; });
    });
    if (!found)
        throw std::invalid_argument{
            "the database " + base::without_password(url) +
            " has no tables of Pawl: is it the right one? `migrate`, or a server, creates them"};
}

// A command runs one thing and ends; a server beside it may need all other connections.
constexpr int connections_of_a_command = 2;

std::unique_ptr<store::Store> open_postgres(const std::string& url, Database::As as) {
    postgres::PostgresOptions defaults;
    base::OnRemark on_remark;  // Not set for commands: these remarks are for a server's log.
    if (as == Database::As::server)
        on_remark = log::remark;
    else
        defaults.connections = connections_of_a_command;
    return std::make_unique<postgres::PostgresStore>(
        postgres::options_of_url(url, std::move(defaults)),
        base::system_clock(),
        base::system_random(),
        std::move(on_remark)
    );
}

// A remark about the file means that the file is lost.
void log_error(const base::Remark& remark) {
    log::error(remark.event, {{"code", std::string{remark.code}}, {"detail", remark.detail}});
}

std::unique_ptr<store::Store> open_store(const std::string& url, Database::As as) {
    auto& clock = base::system_clock();
    if (postgres::is_postgres_url(url)) return open_postgres(url, as);
    if (url == "memory:") return std::make_unique<memory::MemoryStore>(clock);
    if (!url.starts_with(sqlite_scheme) || url.size() == sqlite_scheme.size())
        throw std::invalid_argument{
            "the database " + base::without_password(url) +
            " has an unknown form; use sqlite:FILE (sqlite:rides.db), postgres://USER@HOST/NAME, "
            "or "
            "for tests memory:"};
    const auto file = url.substr(sqlite_scheme.size());
    if (as == Database::As::tool && file != ":memory:" && !std::filesystem::exists(file))
        throw std::invalid_argument{
            "there is no database " + file + "; a server, or `migrate`, creates it"};
    auto store = std::make_unique<sqlite::SqliteStore>(
        sqlite::SqliteOptions{.path = file, .owner = as != Database::As::tool},
        clock,
        as == Database::As::server ? base::OnRemark{log_error} : base::OnRemark{}
    );
    if (as == Database::As::server)
        for (const auto* end : {"", "-wal", "-shm"})
            log::warn_if_others_can_read("database", file + end);
    return store;
}

// The path is the database file's real one, as for its lock.
std::string mark_file_of(const std::string& url) {
    if (!url.starts_with(sqlite_scheme) || url.ends_with(":memory:")) return {};
    const auto file = url.substr(sqlite_scheme.size());
    return std::filesystem::weakly_canonical(file).string() + ".mark";
}

}  // namespace

std::unique_ptr<Database> Database::open(const std::string& url, As as) {
    auto impl = std::make_unique<Impl>();
    impl->store = open_store(url, as);
    impl->mark_file = mark_file_of(url);
    std::unique_ptr<Database> database{new Database{std::move(impl)}};
    if (as != As::tool)
        database->migrate("pawl", sql::migrations::all);
    else
        check_has_tables(database->store(), url);
    return database;
}

void Database::migrate(std::string_view owner, std::span<const Sql* const> migrations) {
    store::apply_migrations(*impl_->store, owner, migrations);
}

void Database::write(const std::function<void(Tx&)>& phase, Isolation isolation) {
    bool staged = false;
    store::write_now(
        *impl_->store,
        [&](store::Session& session) {
            staged = false;
            detail::TxFactory::with_tx(
                {session,
                 base::system_random(),
                 std::nullopt,
                 &staged,
                 impl_->jobs.staging(),
                 isolation},
                phase
            );
        },
        std::chrono::seconds{5},
        isolation
    );
    if (staged) impl_->jobs.staged();
}

void Database::read(const std::function<void(Snapshot&)>& phase) {
    store::read_now(*impl_->store, [&](store::Session& session) {
        detail::TxFactory::with_snapshot(session, phase);
    });
}

Database::Jobs& Database::jobs() {
    return impl_->jobs;
}

const std::string& Database::mark_file() const {
    return impl_->mark_file;
}

store::Store& Database::store() {
    return *impl_->store;
}

}  // namespace pawl
