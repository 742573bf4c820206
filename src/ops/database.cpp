#include <pawl/database.hpp>

#include "src/engine/clock.hpp"
#include "src/engine/maker.hpp"
#include "src/engine/random.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"

#include <stdexcept>

namespace pawl {

struct Database::Impl {
    std::unique_ptr<store::Store> store;
};

Database::Database(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Database::~Database() = default;

std::unique_ptr<Database> Database::open(const std::string& url, As as) {
    constexpr std::string_view scheme = "sqlite:";
    if (!url.starts_with(scheme) || url.size() == scheme.size())
        throw std::invalid_argument{"the database " + url + " is not known: sqlite:FILE, such as sqlite:rides.db"};
    sqlite::SqliteOptions options{.path = url.substr(scheme.size()), .owner = as == As::server};
    auto impl = std::make_unique<Impl>();
    impl->store = std::make_unique<sqlite::SqliteStore>(std::move(options), engine::system_clock());
    std::unique_ptr<Database> database{new Database{std::move(impl)}};
    if (as == As::server) database->migrate("pawl", sql::migrations::all);
    return database;
}

void Database::migrate(std::string_view owner, std::span<const Sql* const> migrations) {
    store::apply_migrations(*impl_->store, owner, migrations);
}

void Database::write(const std::function<void(Tx&)>& phase) {
    store::write_now(*impl_->store, [&](store::Session& session) {
        detail::Maker::with_tx({session, engine::system_random()}, phase);
    });
}

store::Store& Database::store() { return *impl_->store; }

}  // namespace pawl
