#include "src/store/memory/memory_store.hpp"

#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>

#include <thread>

// The memory store's own functions; tests/conformance has what is common to all stores.
namespace pawl::memory {

namespace {

using namespace conformance;
using Kind = StoreError::Kind;
using Effect = StoreError::Effect;
using Step = MemoryStore::Step;

class MemoryStoreTest : public ::testing::Test {
protected:
    MemoryStoreTest() { write_one(at_once, notes::create); }

    static std::unique_ptr<store::Work> insert(Ending& ending, const std::string& text) {
        return ending.work([text](Session& session) { change(session, notes::insert, text); });
    }
    std::vector<std::string> texts(MemoryStore& store) {
        return read_rows<std::string>(store, notes::texts);
    }
    // One that only step() drives, with the table.
    std::unique_ptr<MemoryStore> by_hand() {
        auto store = std::make_unique<MemoryStore>(
            clock, MemoryOptions{.drive = MemoryOptions::Drive::by_hand}
        );
        Ending created;
        store->write(created.work([](Session& session) { change(session, notes::create); }));
        EXPECT_EQ(store->step(), Step::ran);
        return store;
    }

    HandClock clock;
    MemoryStore at_once{clock};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_F(MemoryStoreTest, a_write_runs_on_the_thread_that_submits_it_before_write_returns) {
    std::thread::id ran_on;
    Ending ending;

    at_once.write(ending.work([&](Session&) { ran_on = std::this_thread::get_id(); }));

    EXPECT_TRUE(ending.has_ended());
    EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(MemoryStoreTest, works_submitted_by_answers_run_in_turn_without_recursion) {
    constexpr int many = 20'000;
    int ran = 0;
    int depth = 0;
    int deepest = 0;
    std::function<void()> next = [&] {
        at_once.write(store::work(
            [&](Session&) { ++ran; },
            [&](const std::exception_ptr&) {
                deepest = std::max(deepest, ++depth);
                if (ran < many) next();
                --depth;
            }
        ));
    };

    next();

    EXPECT_EQ(ran, many);
    EXPECT_EQ(deepest, 1);
}

TEST_F(MemoryStoreTest, by_hand_works_run_only_by_step_and_in_order) {
    auto store = by_hand();
    std::vector<Ending> endings(3);

    store->write(insert(endings[0], "a"));
    store->write(insert(endings[1], "b"));
    store->write(insert(endings[2], "renewal"), store::Urgency::first);

    EXPECT_EQ(store->waiting(), 3);
    EXPECT_EQ(texts(*store), Texts{});
    EXPECT_EQ(store->step(), Step::ran);
    EXPECT_EQ(texts(*store), Texts{"renewal"});
    EXPECT_FALSE(endings[0].has_ended());
    EXPECT_EQ(store->step(), Step::ran);
    EXPECT_EQ(store->step(), Step::ran);
    EXPECT_EQ(texts(*store), (Texts{"renewal", "a", "b"}));
    EXPECT_EQ(store->step(), Step::nothing_waits);
}

TEST_F(MemoryStoreTest, only_the_next_commit_ends_as_planned) {
    struct Case {
        CommitFate fate;
        Kind kind;
        Effect effect;
        bool kept;
    };
    int number = 0;
    for (const auto& [fate, kind, effect, kept] : std::vector<Case>{
             {CommitFate::refused, Kind::full, Effect::rolled_back, false},
             {CommitFate::refused, Kind::contention, Effect::rolled_back, false},
             {CommitFate::in_doubt_kept, Kind::unavailable, Effect::in_doubt, true},
             {CommitFate::in_doubt_undone, Kind::unavailable, Effect::in_doubt, false}}) {
        const auto text = "case " + std::to_string(number++);
        SCOPED_TRACE(text);
        at_once.plan_next_commit(fate, kind);

        const auto error = error_of([&] { write_one(at_once, notes::insert, text); });
        write_one(at_once, notes::insert, "after " + text);

        EXPECT_EQ(error.kind(), kind);
        EXPECT_EQ(error.effect(), effect);
        const auto found = texts(at_once);
        EXPECT_EQ(std::count(found.begin(), found.end(), text), kept ? 1 : 0);
        EXPECT_EQ(found.back(), "after " + text);
    }
}

TEST_F(MemoryStoreTest, a_work_that_fails_by_itself_leaves_the_plan_to_the_next_commit) {
    at_once.plan_next_commit(CommitFate::refused);

    EXPECT_THROW(
        write_now(at_once, [](Session&) { throw std::runtime_error{"its own"}; }),
        std::runtime_error
    );
    EXPECT_EQ(
        error_of([&] { write_one(at_once, notes::insert, "a"); }).effect(), Effect::rolled_back
    );
}

TEST_F(MemoryStoreTest, a_process_that_dies_answers_nothing_and_keeps_its_commits) {
    for (const auto fate : {CommitFate::dies_before, CommitFate::dies_after}) {
        auto store = by_hand();
        std::vector<Ending> endings(3);
        store->write(insert(endings[0], "committed"));
        store->write(insert(endings[1], "dying"));
        store->write(insert(endings[2], "waiting"));
        EXPECT_EQ(store->step(), Step::ran);

        store->plan_next_commit(fate);
        EXPECT_EQ(store->step(), Step::died);

        EXPECT_TRUE(endings[0].has_ended());
        EXPECT_FALSE(endings[1].has_ended());
        EXPECT_FALSE(endings[2].has_ended());
        EXPECT_EQ(store->waiting(), 0);
        EXPECT_EQ(
            texts(*store),
            fate == CommitFate::dies_after ? (Texts{"committed", "dying"}) : Texts{"committed"}
        );
        Ending next;
        store->write(insert(next, "of the next process"));
        EXPECT_EQ(store->step(), Step::ran);
        EXPECT_FALSE(next.error());
    }
}

TEST_F(MemoryStoreTest, a_crash_destroys_waiting_works_without_an_answer) {
    auto store = by_hand();
    auto alive = std::make_shared<int>();
    Ending ending;
    store->write(ending.work([alive](Session&) {}));
    EXPECT_EQ(alive.use_count(), 2);

    store->crash();

    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_FALSE(ending.has_ended());
    EXPECT_EQ(store->step(), Step::nothing_waits);
}

TEST_F(MemoryStoreTest, stop_by_hand_runs_queued_works) {
    auto store = by_hand();
    Ending ending;
    store->write(insert(ending, "queued"));

    store->stop();

    EXPECT_FALSE(ending.error());
}

TEST_F(MemoryStoreTest, the_same_calls_make_the_same_database) {
    auto run = [this] {
        auto store = by_hand();
        std::vector<Ending> endings(50);
        for (std::size_t i = 0; i < endings.size(); ++i) {
            store->write(insert(endings[i], std::to_string(i % 7)));
            if (i % 3 == 0) store->step();
            if (i % 11 == 0) store->plan_next_commit(CommitFate::in_doubt_undone);
        }
        while (store->step() == Step::ran) {
        }
        return texts(*store);
    };

    EXPECT_EQ(run(), run());
}

TEST_F(MemoryStoreTest, two_stores_share_nothing) {
    MemoryStore other{clock};
    write_one(other, notes::create);

    write_one(other, notes::insert, "a");

    EXPECT_EQ(texts(at_once), Texts{});
}

}  // namespace pawl::memory
