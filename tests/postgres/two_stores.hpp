#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

// Phases of several connections of one store, and of two stores as in two processes.
namespace pawl::postgres {

using namespace conformance;

inline constexpr char one_kind{};

// A phase as the engine runs it, with a kind, so that it may share its transaction.
class Phase final : public store::Work {
public:
    Phase(
        std::function<void(Tx&)> run,
        std::unique_ptr<store::Work> told,
        Isolation isolation,
        std::chrono::milliseconds deadline
    )
        : run_{std::move(run)},
          told_{std::move(told)},
          isolation_{isolation},
          deadline_{deadline} {}
    void run(Session& session) override {
        detail::TxFactory::with_tx(
            {.session = session,
             .random = base::system_random(),
             .key_id = {},
             .staged = nullptr,
             .staging = engine::Staging::as_job,
             .isolation = isolation_},
            [this](Tx& tx) { run_(tx); }  // Itself: it counts its runs.
        );
    }
    void done(std::exception_ptr failed) noexcept override { told_->done(std::move(failed)); }
    const void* kind() const override { return &one_kind; }
    Isolation isolation() const override { return isolation_; }
    std::chrono::milliseconds deadline() const override { return deadline_; }

private:
    std::function<void(Tx&)> run_;
    std::unique_ptr<store::Work> told_;
    Isolation isolation_;
    std::chrono::milliseconds deadline_;
};

class TwoStores : public ::testing::Test {
protected:
    TwoStores() {
        store::apply_migrations(one, "pawl", sql::migrations::all);
        write_one(one, notes::create);
    }
    static Ending begin(
        store::Store& store,
        std::function<void(Tx&)> run,
        Isolation isolation = Isolation::read_committed,
        std::chrono::milliseconds deadline = 5s
    ) {
        Ending ending;
        store.write(std::make_unique<Phase>(
            std::move(run), ending.work([](Session&) {}), isolation, deadline
        ));
        return ending;
    }
    testing::PostgresDatabase database;
    PostgresOptions options{.url = database.url(), .connections = 8};
    PostgresStore one{options, base::system_clock(), base::system_random()};
    PostgresStore other{options, base::system_clock(), base::system_random()};
};

}  // namespace pawl::postgres
