#include "tests/engine/job_world.hpp"

namespace pawl::testing {
namespace {

TEST_F(JobTest, one_job_in_the_transactions_of_two_workers_is_done_once) {
    bool first = true;
    handle(NoteInTx{[&](Tx& tx, const Job<Note>&) {
        if (!std::exchange(first, false)) return;
        // While the first worker runs it, the lease ends and another worker claims the job.
        static constexpr Statement<0> claim{"a", "UPDATE pawl_jobs SET attempt = attempt + 1", {}};
        execute(tx, claim);
    }});
    stage();

    const auto report = one.run_once(1);

    EXPECT_EQ(report.done, 0);
    EXPECT_EQ(report.lost, 1);
    EXPECT_EQ(world.count("notes"), 0);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
}

TEST_F(JobTest, a_worker_whose_lease_ended_marks_nothing) {
    Gate at_work;
    Gate let_go;
    std::atomic<int> works{0};
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        if (++works > 1) return done;
        at_work.open();
        let_go.wait();
        return done;
    }});
    stage();
    ops::WorkReport late;
    std::jthread sleeper{[&] { late = one.run_once(1); }};
    at_work.wait();
    rescue_after_lease();

    EXPECT_EQ(two.run_once(1).done, 1);
    let_go.open();
    sleeper.join();

    EXPECT_EQ(late.done, 0);
    EXPECT_EQ(late.lost, 1);
    EXPECT_EQ(world.count("pawl_jobs") + world.count("pawl_dead_jobs"), 0);
}

// After its lease, even if no other worker has claimed it, the late worker may not end the job.
TEST_F(JobTest, a_worker_that_was_paused_over_its_claim_renews_it_before_the_call) {
    std::optional<int> rescued;
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        rescued = queue.rescue(options.lease);
        return done;
    }});
    stage();

    core::on_fault_point([&](std::string_view point) {
        if (point == "queue.take.after") world.clock.advance(options.lease);
    });
    const auto report = one.run_once(1);
    core::on_fault_point({});

    EXPECT_EQ(rescued, 0) << "while this one sends it, no other may";
    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

// Another worker may have run it meanwhile, or a person cancelled it.
TEST_F(JobTest, a_worker_that_was_paused_in_its_handler_sends_nothing_any_more) {
    std::vector<bool> may_send;
    handle(NoteInCall{[&](KeyedCall& call, const Job<Note>&) -> JobResult {
        may_send.push_back(call.may_send()());
        world.clock.advance(options.lease);
        may_send.push_back(call.may_send()());
        return done;
    }});
    stage();

    EXPECT_EQ(one.run_once(1).done, 1);

    EXPECT_EQ(may_send, (std::vector<bool>{true, false}));
}

TEST_F(JobTest, a_job_that_was_rescued_from_its_worker_is_not_dead_lettered_by_it) {
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        if (world.count("pawl_jobs WHERE attempt = 1") == 1) rescue_after_lease();
        return discard("not wanted");
    }});
    stage();

    const auto late = one.run_once(1);

    EXPECT_EQ(late.dead_lettered, 0);
    EXPECT_EQ(late.lost, 1);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 0);
    EXPECT_EQ(two.run_once(1).dead_lettered, 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
}

TEST_F(JobTest, a_job_delivered_twice_to_an_operation_has_one_effect) {
    const auto& form =
        world.engine->add(detail::erase_operation(std::make_shared<NoteAsOperation>()));
    one.add(detail::kind_of_job<Note>(), form);
    stage();
    world.execute(
        "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) "
        "SELECT jid, queue, kind, args, state, run_at, created_at FROM pawl_jobs"
    );

    EXPECT_EQ(one.run_once(10).done, 2);

    EXPECT_EQ(world.count("notes"), 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

// Quick jobs are claimed together and wait for the store together.
TEST_F(JobTest, an_exception_of_one_job_rolls_back_no_other) {
    constexpr int jobs = 200;
    std::atomic<int> tried{0};
    Gate all_tried;
    handle(NoteInTx{[&](Tx&, const Job<Note>& job) {
        if (++tried >= jobs) all_tried.open();
        if (job.args.text == "bad") throw std::runtime_error{"poison" + not_utf8};
    }});
    for (int n = 0; n < jobs; ++n) stage(n % 10 == 0 ? "bad" : "good");

    {
        std::jthread thread{[&](const std::stop_token& stop) { one.run(stop); }};
        all_tried.wait();
    }

    EXPECT_EQ(world.count("notes"), jobs / 10 * 9);
    EXPECT_EQ(world.count("pawl_jobs WHERE failures = 1 AND state = 'ready'"), jobs / 10);
    EXPECT_EQ(world.count("pawl_jobs"), jobs / 10);
}

TEST_F(JobTest, a_worker_that_ends_puts_back_claimed_jobs_that_did_not_begin) {
    constexpr int jobs = 300;
    std::atomic<int> begun{0};
    Gate at_work;
    Gate let_go;
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        // Some were quick by then, so that several are claimed at once.
        if (++begun == 50) {
            at_work.open();
            let_go.wait();
        }
        return done;
    }});
    for (int n = 0; n < jobs; ++n) stage();

    {
        std::jthread thread{[&](const std::stop_token& stop) { one.run(stop); }};
        at_work.wait();
        EXPECT_GT(world.count("pawl_jobs WHERE state = 'running'"), 1);
        one.stop_claiming();
        thread.request_stop();
        let_go.open();
    }

    EXPECT_EQ(world.count("pawl_jobs WHERE state = 'ready' AND failures = 0"), jobs - begun);
    EXPECT_EQ(world.count("pawl_jobs"), jobs - begun);
}

// A kind that becomes slow must not hold the jobs that were claimed while it was fast.
TEST_F(JobTest, jobs_that_waited_behind_a_slow_one_are_given_back) {
    std::atomic<int> begun{0};
    Gate slow;
    Gate end;
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        if (++begun == 50) {
            slow.open();
            end.wait();
        }
        return done;
    }});
    for (int n = 0; n < 300; ++n) stage();
    const auto running = [&] { return world.count("pawl_jobs WHERE state = 'running'"); };

    std::jthread upkeep{[&](const std::stop_token& stop) { one.run_rescuer(stop); }};
    std::jthread thread{[&](const std::stop_token& stop) { one.run(stop); }};
    slow.wait();
    EXPECT_GT(running(), 2);
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (running() > 1 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(50ms);

    EXPECT_EQ(running(), 1);
    one.stop_claiming();
    thread.request_stop();
    end.open();
}

// What is claimed counts, for all servers (docs/adr/0030). Under load more jobs ran than there are
// threads: one full claim of a single job doubled the next one, though none had ended yet; and a
// thread that had found no job claimed some beside those that another had just claimed for all.
TEST_F(JobTest, slow_jobs_of_a_queue_with_limits_are_claimed_for_free_threads_only) {
    constexpr int threads = 4;
    constexpr int jobs = 16;
    options.limited = true;
    options.threads = threads;
    ops::Worker worker{*world.engine, queue, pauses, options};
    std::mutex mutex;
    std::int64_t most = 0;
    int ended = 0;
    Gate all_ended;
    const auto slow = [&](KeyedCall&, const Job<Note>&) -> JobResult {
        std::this_thread::sleep_for(70ms);
        const std::lock_guard lock{mutex};
        most = std::max(most, world.count("pawl_jobs WHERE state = 'running'"));
        if (++ended == jobs) all_ended.open();
        return done;
    };
    worker.add(detail::erase_job(std::make_shared<NoteInCall>(slow)));
    for (int n = 0; n < jobs; ++n) stage();

    {
        std::vector<std::jthread> running;
        for (int n = 0; n < threads; ++n)
            running.emplace_back([&](const std::stop_token& stop) { worker.run(stop); });
        all_ended.wait();
    }

    EXPECT_LE(most, threads);
    EXPECT_GT(most, 1);
}

// Whatever a handler throws, the worker goes on.
TEST_F(JobTest, a_handler_that_throws_something_that_is_no_exception_has_failed) {
    handle(NoteInTx{[](Tx&, const Job<Note>&) { throw 42; }});  // NOLINT: what users may do.
    stage();

    EXPECT_EQ(one.run_once(1).retried, 1);

    EXPECT_EQ(world.count("notes"), 0);
    const auto error = world.text("SELECT last_error FROM pawl_jobs");
    EXPECT_EQ(error, "an exception that is not a std::exception");
}

TEST_F(JobTest, a_call_that_throws_something_that_is_no_exception_has_failed) {
    handle(NoteInCall{[](KeyedCall&, const Job<Note>&) -> JobResult { throw 42; }});
    stage();

    EXPECT_EQ(one.run_once(1).retried, 1);

    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 1);
}

TEST_F(JobTest, after_the_receivers_memory_ends_a_job_is_not_called_again) {
    int calls = 0;
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) -> JobResult {
        ++calls;
        throw std::runtime_error{"hung up" + not_utf8};
    }});
    stage();
    EXPECT_EQ(one.run_once(1).retried, 1);
    world.clock.advance(options.provider_key_lifetime);

    EXPECT_EQ(one.run_once(1).dead_lettered, 1);

    EXPECT_EQ(calls, 1);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
}

// Found by reading: with the database's clock slightly ahead each job died.
TEST_F(JobTest, a_first_call_in_the_future_counts_as_past) {
    int calls = 0;
    handle(NoteInCall{[&](KeyedCall&, const Job<Note>&) {
        ++calls;
        return done;
    }});
    const auto worked = [&](std::chrono::seconds ahead) {
        stage();
        const auto called_at = base::time_text(world.clock.now() + ahead);
        world.execute("UPDATE pawl_jobs SET called_at = '" + called_at + "'");
        return one.run_once(10);
    };
    EXPECT_EQ(worked(10min).dead_lettered, 1);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(worked(5s).done, 1);
    EXPECT_EQ(calls, 1);
}

TEST_F(JobTest, a_job_may_stage_the_next_one) {
    int told = 0;
    world.engine->on_staged([&] { ++told; });
    handle(NoteInTx{[](Tx& tx, const Job<Note>& job) {
        if (job.args.text == "a") tx.stage(Note{"b"});
    }});
    stage();

    EXPECT_EQ(one.run_once(10).done, 1);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(one.run_once(10).done, 1);

    EXPECT_EQ(world.text("SELECT group_concat(text) FROM notes"), "a,b");
    EXPECT_EQ(told, 1);
}

TEST_F(JobTest, a_handler_sees_its_tries_and_the_last_error) {
    std::vector<std::string> seen;
    handle(NoteInTx{[&](Tx&, const Job<Note>& job) {
        seen.push_back(
            std::to_string(job.attempt) + " " + job.last_error.value_or("-") + " " +
            (job.first_failed_at ? "failed before" : "first")
        );
        if (job.attempt == 1) throw std::runtime_error{"hung up" + not_utf8};
    }});
    stage();

    EXPECT_EQ(one.run_once(1).retried, 1);
    world.clock.advance(11s);
    EXPECT_EQ(one.run_once(1).done, 1);

    EXPECT_EQ(seen, (std::vector<std::string>{"1 - first", "2 hung up? failed before"}));
    EXPECT_EQ(world.count("notes"), 1);
}

// Once it returned each second forever, and counted as trouble of the database.
TEST_F(JobTest, a_handler_in_a_transaction_that_takes_too_long_has_failed) {
    ops::Worker worker{*world.engine, queue, pauses, {.retry_layers = {}}};
    worker.add(detail::erase_job(std::make_shared<NoteInTx>([](Tx&, const Job<Note>&) {
        throw StoreError{
            StoreError::Kind::deadline, StoreError::Effect::rolled_back, "slow", "5 s are over"};
    })));
    stage();

    const auto report = worker.run_once(1);

    EXPECT_EQ(report.dead_lettered, 1);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
}

TEST_F(JobTest, no_job_of_a_paused_queue_is_claimed_until_it_is_resumed) {
    handle(NoteInTx{});
    stage();

    EXPECT_TRUE(pauses.pause("default", "ann", "the printer burns"));
    EXPECT_FALSE(pauses.pause("default", "joe", "again"));
    EXPECT_EQ(one.run_once(1).done, 0);
    EXPECT_EQ(pauses.list().at(0).reason, "the printer burns");
    EXPECT_TRUE(pauses.resume("default", "joe", "it is out"));
    EXPECT_FALSE(pauses.resume("default", "joe", "it is out"));

    EXPECT_EQ(one.run_once(1).done, 1);
    EXPECT_EQ(world.count("pawl_audit_log WHERE action IN ('pause', 'resume')"), 2);
}

TEST_F(JobTest, a_job_staged_for_later_waits_for_its_time) {
    handle(NoteInTx{});
    stage("a", 5min);

    EXPECT_EQ(one.run_once(1).done, 0);
    world.clock.advance(5min - 1ms);
    EXPECT_EQ(one.run_once(1).done, 0);
    world.clock.advance(1ms);

    EXPECT_EQ(one.run_once(1).done, 1);
    EXPECT_THROW(stage("a", -1ms), std::invalid_argument);
    EXPECT_THROW(stage("a", 24h * 365 * 11), std::invalid_argument);
}

TEST_F(JobTest, a_handler_sees_the_history_of_its_job) {
    std::vector<Job<Note>> seen;
    handle(NoteInTx{[&](Tx&, const Job<Note>& job) {
        seen.push_back(job);
        throw std::runtime_error{"e" + std::to_string(seen.size())};
    }});
    stage();
    const auto first = world.clock.now();

    one.run_once(1);
    world.clock.advance(20s);
    queue.reschedule(queue.claim(1, 30s).at(0), 0s, "e of another");
    one.run_once(1);

    ASSERT_EQ(seen.size(), 2);
    EXPECT_FALSE(seen[0].last_failed_at);
    EXPECT_EQ(seen[0].origin, "embedded");
    EXPECT_EQ(seen[1].attempt, 3);
    EXPECT_EQ(seen[1].first_failed_at, first);
    EXPECT_EQ(seen[1].last_failed_at, first + 20s);
    EXPECT_EQ(seen[1].last_error, "e of another");
}

constexpr auto insert_note =
    "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) "
    "VALUES ('j', 'default', 'note', '{\"text\":\"a\"}', 'ready', '2027-01-01T00:00:00.000Z', "
    "'2027-01-01T00:00:00.000Z')";

// With 1,000 backends terminated under load, jobs once waited in the retry layers of failed jobs.
TEST_F(JobTest, trouble_of_the_database_is_no_failure_of_a_job_in_a_transaction) {
    using How = FailingStore::How;
    ops::Worker worker{*world.engine, queue, pauses, {}};
    worker.add(detail::erase_job(std::make_shared<NoteInTx>()));
    world.execute(insert_note);
    world.store.arm(2, How::undone);  // The first write claims it.

    EXPECT_EQ(worker.run_once(1).retried, 1);

    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
    world.clock.advance(1s);
    EXPECT_EQ(worker.run_once(1).done, 1);
    EXPECT_EQ(world.count("notes"), 1);
}

// For each write of a round and each kind of failure: the job has its one effect, and is not lost.
TEST_F(JobTest, a_failed_write_anywhere_neither_doubles_nor_loses_a_job_in_a_transaction) {
    using How = FailingStore::How;
    for (const auto how : {How::refused, How::undone, How::in_doubt}) {
        for (int nth = 1; nth <= 3; ++nth) {
            SCOPED_TRACE(std::to_string(static_cast<int>(how)) + " at " + std::to_string(nth));
            World fresh;
            fresh.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
            queue::EmbeddedQueue line{fresh.store};
            ops::Pauses none{fresh.store, fresh.clock};
            ops::Worker worker{*fresh.engine, line, none, {}};
            worker.add(detail::erase_job(std::make_shared<NoteInTx>()));
            fresh.execute(insert_note);
            fresh.store.arm(nth, how);

            for (int round = 0; round < 5; ++round) {
                try {
                    (void)worker.run_once(1);
                    fresh.clock.advance(2min);
                    (void)line.rescue(options.lease);
                } catch (const StoreError&) {  // Worker::run and run_rescuer log it and go on.
                }
            }

            EXPECT_EQ(fresh.count("notes"), 1);
            EXPECT_EQ(fresh.count("pawl_jobs") + fresh.count("pawl_dead_jobs"), 0);
        }
    }
}

}  // namespace
}  // namespace pawl::testing
