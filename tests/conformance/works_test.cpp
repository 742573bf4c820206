#include "tests/conformance/each_store.hpp"

#include <thread>

// The execution of works: order, isolation, deadlines, stop.
namespace pawl::conformance {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

class WorksTest : public OnEachStore {};
PAWL_ON_EACH_STORE(WorksTest);

// Runs until it is interrupted.
constexpr Sql endless{
    "endless",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    "SELECT pg_sleep(60)"};
constexpr Sql endless_write{
    "endless_write",
    "INSERT INTO notes (number) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT max(i) FROM n",
    "INSERT INTO notes (number) SELECT 1 FROM pg_sleep(60)"};

}  // namespace

TEST_P(WorksTest, writes_run_in_the_order_in_which_one_thread_submits_them) {
    std::vector<Ending> endings(200);

    for (std::size_t i = 0; i < endings.size(); ++i)
        store->write(endings[i].work([i](Session& session) {
            change(session, notes::insert, std::to_string(i));
        }));
    for (const auto& ending : endings) EXPECT_FALSE(ending.error());

    const auto texts = read_rows<std::string>(*store, notes::texts);
    ASSERT_EQ(texts.size(), endings.size());
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i));
}

TEST_P(WorksTest, each_of_many_threads_gets_its_own_answer) {
    constexpr int threads = 8;
    constexpr int writes = 50;
    std::atomic<int> conflicts{0};
    std::vector<std::thread> crowd;

    // All want the same notes: one thread gets each, the others are refused.
    for (int t = 0; t < threads; ++t)
        crowd.emplace_back([&] {
            for (int i = 0; i < writes; ++i) {
                try {
                    write_one(*store, notes::insert, std::to_string(i));
                } catch (const StoreError& error) {
                    if (error.kind() == Kind::constraint) ++conflicts;
                }
            }
        });
    for (auto& thread : crowd) thread.join();

    EXPECT_EQ(note_count(), writes);
    EXPECT_EQ(conflicts, (threads - 1) * writes);
}

TEST_P(WorksTest, a_work_that_throws_is_rolled_back_alone) {
    std::vector<Ending> endings(30);

    for (std::size_t i = 0; i < endings.size(); ++i)
        store->write(endings[i].work([i](Session& session) {
            change(session, notes::insert, std::to_string(i));
            if (i % 3 == 1) throw std::runtime_error{"not this one"};
            if (i % 3 == 2)
                change(session, notes::insert, std::to_string(i));  // Taken: a constraint.
        }));

    for (std::size_t i = 0; i < endings.size(); ++i) {
        if (i % 3 == 1) {
            EXPECT_THROW((void)endings[i].error(), std::runtime_error);
        } else {
            EXPECT_EQ(endings[i].error().has_value(), i % 3 == 2);
        }
    }
    EXPECT_EQ(note_count(), 10);
}

TEST_P(WorksTest, a_done_work_is_visible_to_the_next_read) {
    for (int i = 0; i < 50; ++i) {
        write_one(*store, notes::insert, std::to_string(i));

        ASSERT_EQ(note_count(), i + 1);
    }
}

TEST_P(WorksTest, a_read_never_sees_uncommitted_writes) {
    std::promise<void> inserted;
    std::promise<std::int64_t> seen;
    auto seen_in_time = seen.get_future();
    Ending ending;

    std::thread writer{[&] {
        store->write(ending.work([&](Session& session) {
            change(session, notes::insert, "for a moment");
            inserted.set_value();
            // A store whose reads wait for the writer has no other reader here.
            seen_in_time.wait_for(GetParam() == Stores::sqlite_file ? 20s : 100ms);
            throw std::runtime_error{"undone"};
        }));
    }};
    inserted.get_future().wait();
    const auto count = note_count();
    seen.set_value(count);
    EXPECT_THROW((void)ending.error(), std::runtime_error);
    writer.join();

    EXPECT_EQ(count, 0);
}

TEST_P(WorksTest, a_read_that_writes_is_refused_as_a_fault_of_the_program) {
    const auto error = error_of([&] {
        read_now(*store, [](Session& session) { change(session, notes::insert, "a"); });
    });

    EXPECT_EQ(error.kind(), Kind::refused);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_reads_exception_reaches_its_caller_and_the_next_read_works) {
    EXPECT_THROW(
        read_now(*store, [](Session&) { throw std::runtime_error{"of the reader"}; }),
        std::runtime_error
    );

    for (int i = 0; i < 5; ++i) EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_statement_is_interrupted_at_the_deadline_of_its_work) {
    clock.tick(1s);
    Ending reading;
    Ending writing;

    store->write(reading.work([](Session& session) {
        change(session, notes::insert, "a");
        change(session, endless);
    }));
    store->write(writing.work([](Session& session) { change(session, endless_write); }));

    for (const auto* ending : {&reading, &writing}) {
        const auto error = ending->error();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->kind(), Kind::deadline);
        EXPECT_TRUE(error->transient());
    }
    clock.tick(0s);
    EXPECT_EQ(note_count(), 0);
}

// Issue 16, number 22. On SQLite the phase's own exception was thrown: 500 instead of 503.
TEST_P(WorksTest, an_error_of_the_database_is_kept_whatever_a_phase_throws) {
    clock.tick(1s);
    Ending wraps;
    Ending swallows;

    store->write(wraps.work([](Session& session) {
        change(session, notes::insert, "a");
        try {
            change(session, endless);
        } catch (const std::exception&) {
            throw std::runtime_error{"of the phase"};
        }
    }));
    store->write(swallows.work([](Session& session) {
        change(session, notes::insert, "b");
        try {
            change(session, endless);
        } catch (const std::exception&) {
        }
    }));

    for (const auto* ending : {&wraps, &swallows}) {
        const auto error = ending->error();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->kind(), Kind::deadline);
        EXPECT_TRUE(error->transient());
    }
    clock.tick(0s);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_lost_fence_is_kept_whatever_a_phase_throws) {
    constexpr auto fence = on_all<1>("fence_note", "UPDATE notes SET number = 1 WHERE text = $1");
    const auto ending_of = [&](auto after_failure) {
        Ending ending;
        store->write(ending.work([&](Session& session) {
            change(session, notes::insert, "a");
            try {
                detail::fence_statement(session, fence, std::string{"is not there"});
                change(session, notes::insert, "b");
            } catch (const std::exception&) {
                after_failure();
            }
        }));
        return ending.error();
    };

    const auto wraps = ending_of([] { throw std::runtime_error{"of the phase"}; });
    const auto swallows = ending_of([] {});

    for (const auto* error : {&wraps, &swallows}) {
        ASSERT_TRUE(*error);
        EXPECT_EQ((*error)->kind(), Kind::fenced);
    }
    EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_read_is_interrupted_at_its_deadline) {
    clock.tick(1s);

    const auto error =
        error_of([&] { read_now(*store, [](Session& session) { change(session, endless); }); });

    EXPECT_EQ(error.kind(), Kind::deadline);
    clock.tick(0s);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_phase_that_took_too_long_outside_its_statements_is_rolled_back) {
    Ending ending;

    store->write(ending.work(
        [&](Session& session) {
            change(session, notes::insert, "a");
            clock.advance(3s);
        },
        2s
    ));

    EXPECT_EQ(ending.error()->kind(), Kind::deadline);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(WorksTest, a_deadline_does_not_affect_the_next_work) {
    write_now(*store, [&](Session&) { clock.advance(4s); });
    clock.advance(1h);

    write_one(*store, notes::insert, "a");

    EXPECT_EQ(note_count(), 1);
}

TEST_P(WorksTest, a_work_beyond_the_limit_is_refused_at_once_and_may_be_repeated) {
    store = nullptr;
    store = open(2);
    std::promise<void> running;
    std::promise<void> go_on;
    auto may_go_on = go_on.get_future().share();
    Ending blocking;
    std::thread writer{[&] {
        store->write(blocking.work([&](Session&) {
            running.set_value();
            may_go_on.wait_for(20s);
        }));
    }};
    running.get_future().wait();
    std::vector<Ending> waiting(2);
    for (auto& ending : waiting) store->write(ending.work([](Session&) {}));

    Ending refused;
    store->write(refused.work([](Session&) { FAIL() << "it must not run"; }));

    EXPECT_TRUE(refused.has_ended());
    EXPECT_EQ(refused.error()->kind(), Kind::busy);
    EXPECT_EQ(refused.error()->effect(), Effect::none);
    EXPECT_TRUE(refused.error()->safe_to_repeat());
    go_on.set_value();
    writer.join();
    for (const auto& ending : waiting) EXPECT_FALSE(ending.error());
}

TEST_P(WorksTest, renewals_run_before_all_other_works) {
    std::promise<void> running;
    std::promise<void> go_on;
    auto may_go_on = go_on.get_future().share();
    Ending blocking;
    std::thread writer{[&] {
        store->write(blocking.work([&](Session&) {
            running.set_value();
            may_go_on.wait_for(20s);
        }));
    }};
    running.get_future().wait();
    Ending normal;
    Ending renewal;
    auto insert = [](const char* text) {
        return [text](Session& session) { change(session, notes::insert, text); };
    };

    store->write(normal.work(insert("normal")));
    store->write(renewal.work(insert("renewal")), store::Urgency::first);
    go_on.set_value();
    writer.join();

    EXPECT_FALSE(normal.error());
    EXPECT_FALSE(renewal.error());
    EXPECT_EQ(
        read_rows<std::string>(*store, notes::texts),
        (std::vector<std::string>{"renewal", "normal"})
    );
}

TEST_P(WorksTest, stop_finishes_queued_works_and_refuses_new_ones) {
    std::promise<void> running;
    std::promise<void> go_on;
    auto may_go_on = go_on.get_future().share();
    Ending blocking;
    std::thread writer{[&] {
        store->write(blocking.work([&](Session&) {
            running.set_value();
            may_go_on.wait_for(20s);
        }));
    }};
    running.get_future().wait();
    Ending queued;
    store->write(queued.work([](Session& session) { change(session, notes::insert, "queued"); }));
    std::thread stopping{[&] { store->stop(); }};
    go_on.set_value();
    stopping.join();
    writer.join();

    EXPECT_TRUE(queued.has_ended());
    EXPECT_FALSE(queued.error());
    Ending late;
    Ending late_read;
    store->write(late.work([](Session&) {}));
    store->read(late_read.work([](Session&) {}));
    EXPECT_EQ(late.error()->kind(), Kind::unavailable);
    EXPECT_EQ(late_read.error()->kind(), Kind::unavailable);
    store->stop();  // Calling it again does nothing.
}

// SQLite once ran reads on the calling thread, a listener's (issue 16, number 2).
TEST_P(WorksTest, a_read_never_blocks_its_caller) {
    if (GetParam() == Stores::memory || GetParam() == Stores::sqlite_in_memory)
        GTEST_SKIP() << "one connection for all: reads run on the calling thread";
    std::promise<void> go_on;
    auto may_go_on = go_on.get_future().share();
    std::atomic<int> waited_in_vain{0};
    std::vector<Ending> slow(10);  // More than there are reader threads.

    for (auto& ending : slow)
        store->read(ending.work([&](Session&) {
            if (may_go_on.wait_for(2s) != std::future_status::ready) ++waited_in_vain;
        }));
    go_on.set_value();

    for (const auto& ending : slow) EXPECT_FALSE(ending.error());
    EXPECT_EQ(waited_in_vain, 0);
}

TEST_P(WorksTest, an_answer_may_submit_the_next_work) {
    Ending second;
    Ending first;
    auto next = second.work([](Session& session) { change(session, notes::insert, "second"); });
    std::unique_ptr<store::Work>* handed = &next;

    store->write(store::work(
        [](Session& session) { change(session, notes::insert, "first"); },
        [this, handed](const std::exception_ptr&) { store->write(std::move(*handed)); }
    ));

    EXPECT_FALSE(second.error());
    EXPECT_EQ(note_count(), 2);
}

TEST_P(WorksTest, the_statistics_count_works_and_commits) {
    const auto before = store->stats();

    for (int i = 0; i < 10; ++i) write_one(*store, notes::insert, std::to_string(i));

    const auto after = store->stats();
    EXPECT_EQ(after.works - before.works, 10);
    EXPECT_EQ(after.commits - before.commits, 10);  // One thread that waits for each: no sharing.
    EXPECT_GE(after.largest_batch, 1);
}

}  // namespace pawl::conformance
