#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/base/warning.hpp"
#include "src/store/postgres/options.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace pawl::postgres {

// PostgreSQL 13 or later: one thread for each connection. Phases that wait together share a
// transaction, and lookups share a packet. A broken connection is reopened, with back-off; while
// none can be opened, works are refused at once (unavailable).
class PostgresStore final : public store::Store {
public:
    // Throws StoreError (PAWL0008) if the database can't be reached. Clock and random outlive the
    // store. Without on_warning durability is not checked.
    PostgresStore(
        PostgresOptions options,
        base::Clock& clock,
        base::Random& random,
        base::OnWarning on_warning = {}
    );
    ~PostgresStore() override;

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void write_all(std::vector<std::unique_ptr<store::Work>> works) override;
    void read(std::unique_ptr<store::Work> work) override;
    void lookup(std::unique_ptr<store::Lookup> lookup) override;
    std::string_view text_of(const Sql& statement) const override { return statement.postgres; }
    std::optional<store::PreallocationStatements> preallocation() const override;
    bool serves_one_process() const override { return false; }
    void notify(std::string_view hash) override;
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override;
    std::optional<std::int64_t> session_lock() override;
    store::StoreStats stats() const override;
    void stop() override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::postgres
