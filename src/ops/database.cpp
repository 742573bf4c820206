#include <pawl/database.hpp>

#include "src/base/random.hpp"
#include "src/base/url.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/ops/database_jobs.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "src/store/open.hpp"
#include "src/store/read_only_store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace pawl {

struct Database::Impl {
    Database::Jobs jobs;  // Outlives the store.
    std::string mark_file;
    As as{};
    std::string url_without_password;
    std::unique_ptr<store::Store> store;
    std::vector<Migrations> migrations{};
};

Database::Database(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Database::~Database() = default;

namespace {

using base::RunningCode;

constexpr std::chrono::seconds phase_deadline{5};

base::Running here(store::Store& store, RunningCode::Where where, std::string_view name) {
    return {&store.running_code(), {.where = where, .name = name, .limit = phase_deadline}};
}

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

}  // namespace

std::unique_ptr<Database> Database::open(const std::string& url, As as) {
    auto impl = std::make_unique<Impl>();
    impl->store = store::open_store(url, as);
    impl->as = as;
    if (as == As::inspection)
        impl->store = std::make_unique<store::ReadOnlyStore>(std::move(impl->store));
    impl->mark_file = store::mark_file_of(url);
    impl->url_without_password = base::without_password(url);
    std::unique_ptr<Database> database{new Database{std::move(impl)}};
    if (as != As::tool)
        database->migrate("pawl", sql::migrations::all);
    else
        check_has_tables(database->store(), url);
    return database;
}

void Database::migrate(std::string_view owner, std::span<const Sql* const> migrations) {
    impl_->migrations.push_back({std::string{owner}, migrations});
    if (impl_->as != As::inspection) store::apply_migrations(*impl_->store, owner, migrations);
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
                 isolation,
                 nullptr,
                 nullptr,
                 here(*impl_->store, RunningCode::Where::transaction, "Database::write")},
                phase
            );
        },
        phase_deadline,
        isolation
    );
    if (staged) impl_->jobs.staged();
}

void Database::read(const std::function<void(Snapshot&)>& phase) {
    store::read_now(*impl_->store, [&](store::Session& session) {
        detail::TxFactory::with_snapshot(
            session, here(*impl_->store, RunningCode::Where::query, "Database::read"), phase
        );
    });
}

Database::Jobs& Database::jobs() {
    return impl_->jobs;
}

const std::vector<Database::Migrations>& Database::migrations() const {
    return impl_->migrations;
}

Database::As Database::opened_as() const {
    return impl_->as;
}

const std::string& Database::mark_file() const {
    return impl_->mark_file;
}

const std::string& Database::url_without_password() const {
    return impl_->url_without_password;
}

store::Store& Database::store() {
    return *impl_->store;
}

}  // namespace pawl
