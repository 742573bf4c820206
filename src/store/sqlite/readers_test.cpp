#include "src/store/sqlite/readers.hpp"

#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>
#include <utility>
#include <vector>

// Slow reads, and what they must not delay (issue 16, number 2).
namespace pawl::sqlite {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;

class CountLook final : public store::Lookup {
public:
    explicit CountLook(std::promise<std::exception_ptr> ended) : ended_{std::move(ended)} {}
    const Sql& statement() const override { return notes::count; }
    std::span<const detail::Value> parameters() const override { return {}; }
    void row(const detail::Row&) override {}
    void done(std::exception_ptr failed, TimePoint) noexcept override {
        ended_.set_value(std::move(failed));
    }

private:
    std::promise<std::exception_ptr> ended_;
};

class ReadersTest : public ::testing::Test {
protected:
    ~ReadersTest() override { let_go(); }

    std::unique_ptr<SqliteStore> open(std::size_t reads_waiting_max = 1'000) {
        auto store = std::make_unique<SqliteStore>(
            SqliteOptions{
                .path = folder.file("test.db"),
                .readers = 2,
                .reads_waiting_max = reads_waiting_max},
            clock
        );
        write_one(*store, notes::create);
        return store;
    }
    // A read that runs until let_go().
    void read_slowly(SqliteStore& store) {
        slow.emplace_back();
        store.read(slow.back().work([this](Session&) {
            ++running;
            EXPECT_EQ(may_end.wait_for(20s), std::future_status::ready);
        }));
    }
    void hold_all_readers(SqliteStore& store) {
        read_slowly(store);
        read_slowly(store);
        while (running < 2) std::this_thread::yield();
    }
    void let_go() {
        if (!std::exchange(gone, true)) end.set_value();
    }
    static std::future<std::exception_ptr> lookup(SqliteStore& store) {
        std::promise<std::exception_ptr> ended;
        auto ending = ended.get_future();
        store.lookup(std::make_unique<CountLook>(std::move(ended)));
        return ending;
    }

    Folder folder;
    HandClock clock;
    std::atomic<int> running{0};
    bool gone{false};
    std::promise<void> end;
    std::shared_future<void> may_end{end.get_future().share()};
    std::vector<Ending> slow;
};

}  // namespace

TEST_F(ReadersTest, a_lookup_does_not_wait_for_slow_reads) {
    const auto store = open();
    hold_all_readers(*store);

    for (int n = 0; n < 100; ++n) {
        auto found = lookup(*store);
        ASSERT_EQ(found.wait_for(0s), std::future_status::ready);  // On this thread.
        EXPECT_FALSE(found.get());
    }
    let_go();
}

TEST_F(ReadersTest, a_lookup_that_finds_no_connection_free_runs_on_a_thread_of_its_own) {
    const auto store = open();
    write_one(*store, notes::insert, "a");
    // Begins the next one while it still has its connection.
    class Nested final : public store::Lookup {
    public:
        Nested(SqliteStore& store, int left, std::promise<std::exception_ptr> ended)
            : store_{store}, left_{left}, ended_{std::move(ended)} {}
        const Sql& statement() const override { return notes::texts; }
        std::span<const detail::Value> parameters() const override { return {}; }
        void row(const detail::Row&) override {
            if (left_ == 0) return;
            std::promise<std::exception_ptr> ended;
            inner_ = ended.get_future();
            store_.lookup(std::make_unique<Nested>(store_, left_ - 1, std::move(ended)));
        }
        void done(std::exception_ptr failed, TimePoint) noexcept override {
            if (inner_.valid() && !failed) failed = inner_.get();
            ended_.set_value(std::move(failed));
        }

    private:
        SqliteStore& store_;
        int left_;
        std::promise<std::exception_ptr> ended_;
        std::future<std::exception_ptr> inner_;
    };
    std::promise<std::exception_ptr> ended;
    auto outermost = ended.get_future();
    store->lookup(std::make_unique<Nested>(*store, 4, std::move(ended))
    );  // 5 at once, 4 connections.

    ASSERT_EQ(outermost.wait_for(20s), std::future_status::ready);
    EXPECT_FALSE(outermost.get());
}

TEST_F(ReadersTest, reads_beyond_the_limit_are_refused) {
    const auto store = open(3);
    hold_all_readers(*store);

    std::vector<Ending> waiting(4);
    for (auto& ending : waiting) store->read(ending.work([](Session&) {}));

    ASSERT_TRUE(waiting[3].has_ended());
    EXPECT_EQ(waiting[3].error()->kind(), Kind::busy);
    EXPECT_FALSE(waiting[0].has_ended());
    let_go();
    for (int n = 0; n < 3; ++n) EXPECT_FALSE(waiting[static_cast<std::size_t>(n)].error());
}

TEST_F(ReadersTest, a_read_that_has_waited_as_long_as_it_may_run_is_refused_instead_of_begun) {
    const auto store = open();
    hold_all_readers(*store);
    Ending patient;
    Ending late;
    store->read(patient.work([](Session&) {}, 60s));
    store->read(late.work([](Session&) { FAIL() << "it was begun"; }, 5s));

    clock.advance(6s);
    let_go();

    EXPECT_FALSE(patient.error());
    EXPECT_EQ(late.error()->kind(), Kind::busy);
}

TEST_F(ReadersTest, reads_queued_at_the_stop_still_run) {
    const auto store = open();
    hold_all_readers(*store);
    std::vector<Ending> queued(5);
    for (auto& ending : queued) store->read(ending.work([](Session&) {}));
    std::thread stopping{[&] { store->stop(); }};

    let_go();
    stopping.join();

    for (const auto& ending : queued) {
        ASSERT_TRUE(ending.has_ended());
        EXPECT_FALSE(ending.error());
    }
    EXPECT_TRUE(lookup(*store).get());
}

}  // namespace pawl::sqlite
