#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Jobs, the completer and the reaper, round by round, with the test's clock.

struct Counted {
    static constexpr std::string_view kind = "counted";
    std::string text;
};

class CountInTx {
public:
    JobResult work(Tx& tx, const Job<Counted>& job) {
        static constexpr Statement<1> insert{
            "insert_done", "INSERT INTO done (text) VALUES ($1)", {}};
        execute(tx, insert, job.args.text);
        if (job.args.text == "throws") throw std::runtime_error{"a bug"};
        if (job.args.text == "later") return retry_in(5s);
        if (job.args.text == "never") return discard("not wanted");
        return done;
    }
};

class CountInCall {
public:
    explicit CountInCall(std::vector<std::string>& keys) : keys_{&keys} {}
    JobResult work(KeyedCall& call, const Job<Counted>& job) {
        keys_->push_back(call.key().text);
        if (job.attempt < 3) throw std::runtime_error{"the receiver hung up"};
        return done;
    }

private:
    std::vector<std::string>* keys_;
};

class OpenGate {
public:
    explicit OpenGate(Gate& gate) : gate_{&gate} {}
    void work(Tx&, const Job<Counted>&) { gate_->open(); }

private:
    Gate* gate_;
};

class CountAsOperation {
public:
    static constexpr std::string_view name = "count_as_operation";
    explicit CountAsOperation(Provider& provider) : provider_{&provider} {}
    using Started = pawl::Started<Counted>;
    struct Noted {
        static constexpr std::string_view name = "noted";
        std::string text;
    };
    Next<Noted> note(Tx& tx, const Started& at) {
        static constexpr Statement<1> insert{
            "insert_done", "INSERT INTO done (text) VALUES ($1)", {}};
        execute(tx, insert, at.request.text);
        return Noted{at.request.text};
    }
    Outcome<Paid, Refused402> pay(KeyedCall& call, const Noted&) {
        return provider_->charge(call.key().text);
    }
    Finish keep(Tx&, const Noted&, const Paid& paid) { return answer(200, paid); }
    Finish refuse(Tx&, const Noted&, const Refused402& no) { return answer(402, no); }
    using Flow = Steps<
        Atomic<&CountAsOperation::note>,
        Foreign<
            Repeat::safe_with_key,
            &CountAsOperation::pay,
            &CountAsOperation::keep,
            &CountAsOperation::refuse>>;

private:
    Provider* provider_;
};

class Stager {
public:
    static constexpr std::string_view name = "stager";
    using Started = pawl::Started<Counted>;
    Finish stage(Tx& tx, const Started& at) {
        tx.stage(at.request);
        if (at.request.text == "undone") throw std::runtime_error{"after staging"};
        return answer(200, std::string{"ok"});
    }
    using Flow = Steps<Atomic<&Stager::stage>>;
};

class ServiceTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.execute("CREATE TABLE done (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
        world.add(Stager{});
        world.add(Order{provider});
    }
    void stage(const std::string& text) {
        (void)world.ask<Stager>(text, R"({"text":")" + text + "\"}");
    }
    Provider provider;
    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::Pauses pauses{world.store, world.clock};
    ops::Worker worker{*world.engine, queue, pauses, {.retry_layers = {10s, 60s}}};
};

TEST_F(ServiceTest, a_job_of_a_phase_that_threw_never_runs) {
    stage("undone");

    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

TEST_F(ServiceTest, a_job_in_a_transaction_is_done_once) {
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));
    stage("a");
    stage("b");

    EXPECT_EQ(worker.run_once(10).done, 2);
    EXPECT_EQ(worker.run_once(10).done, 0);
    EXPECT_EQ(world.count("done"), 2);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

TEST_F(ServiceTest, a_failed_commit_of_a_job_leaves_neither_its_write_nor_its_mark) {
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));
    stage("a");
    world.store.arm(2, FailingStore::How::undone);  // The first write claims the job.

    EXPECT_EQ(worker.run_once(10).done, 0);
    EXPECT_EQ(world.count("done"), 0);

    world.clock.advance(2min);
    (void)queue.rescue(60s);
    EXPECT_EQ(worker.run_once(10).done, 1);
    EXPECT_EQ(world.count("done"), 1);
}

TEST_F(ServiceTest, a_failed_job_steps_down_its_layers_and_dies) {
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));
    stage("throws");

    EXPECT_EQ(worker.run_once(10).retried, 1);
    EXPECT_EQ(worker.run_once(10).retried, 0);  // Not before its time.
    world.clock.advance(16s);
    EXPECT_EQ(worker.run_once(10).retried, 1);
    world.clock.advance(100s);
    EXPECT_EQ(worker.run_once(10).dead_lettered, 1);

    EXPECT_EQ(world.count("pawl_jobs"), 0);
    EXPECT_EQ(world.count("done"), 0);
    EXPECT_EQ(world.text("SELECT last_error FROM pawl_dead_jobs"), "a bug");
    EXPECT_EQ(world.number("SELECT failures FROM pawl_dead_jobs"), 3);
}

TEST_F(ServiceTest, a_handler_may_delay_or_discard_its_job_and_its_writes_are_rolled_back) {
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));
    stage("later");
    stage("never");

    const auto report = worker.run_once(10);

    EXPECT_EQ(report.retried, 1);
    EXPECT_EQ(report.dead_lettered, 1);
    EXPECT_EQ(world.count("done"), 0);
    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
}

TEST_F(ServiceTest, a_job_in_a_call_has_the_same_key_at_every_try) {
    std::vector<std::string> keys;
    worker.add(detail::erase_job(std::make_shared<CountInCall>(keys)));
    stage("a");

    for (int i = 0; i < 3; ++i) {
        (void)worker.run_once(10);
        world.clock.advance(2min);
    }

    ASSERT_EQ(keys.size(), 3U);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 1U);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

TEST_F(ServiceTest, the_completer_goes_on_with_a_job_as_an_operation_where_it_was) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::kind_of_job<Counted>(), form);
    provider.next({Does::doubt_charged});
    stage("a");

    for (int i = 0; i < 3 && world.count("pawl_jobs") > 0; ++i) {
        (void)worker.run_once(10);
        world.clock.advance(2min);
        (void)world.complete();
    }

    EXPECT_EQ(world.count("pawl_jobs"), 0);
    EXPECT_EQ(world.count("done"), 1);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(provider.keys.size(), 2U);
}

TEST_F(ServiceTest, a_job_waits_while_its_operation_needs_a_person) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::kind_of_job<Counted>(), form);
    provider.next({Does::stuck});
    stage("a");

    EXPECT_EQ(worker.run_once(10).retried, 1);
    world.clock.advance(61s);
    EXPECT_EQ(worker.run_once(10).retried, 1);

    EXPECT_EQ(world.count("pawl_attention"), 1);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0) << "it has not failed";
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(ServiceTest, a_job_whose_key_was_settled_with_another_request_is_discarded) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::kind_of_job<Counted>(), form);
    stage("a");
    world.execute(
        "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) "
        "SELECT jid, queue, kind, '{\"text\":\"b\"}', state, run_at, created_at FROM pawl_jobs"
    );

    const auto report = worker.run_once(10);

    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(report.dead_lettered, 1);
    EXPECT_EQ(world.count("done"), 1);
    EXPECT_EQ(
        world.text("SELECT last_error FROM pawl_dead_jobs"),
        "its key was settled with another request, or has expired"
    );
}

TEST_F(ServiceTest, a_job_that_its_operation_cannot_read_is_retried) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::kind_of_job<Counted>(), form);
    stage("a");
    world.execute("UPDATE pawl_jobs SET args = '{\"no\":1}'");

    EXPECT_EQ(worker.run_once(10).retried, 1);
    EXPECT_EQ(world.count("done"), 0);
}

TEST_F(ServiceTest, a_job_of_an_operation_comes_again_while_the_engine_stops) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::kind_of_job<Counted>(), form);
    stage("a");
    world.engine->refuse_new();

    EXPECT_EQ(worker.run_once(10).retried, 1);

    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
}

TEST_F(ServiceTest, a_worker_outlives_an_outage_of_its_queue) {
    ops::WorkerOptions options;
    options.poll = 1ms;
    options.outage_wait_max = 5ms;
    ops::Worker patient{*world.engine, queue, pauses, options};
    Gate worked;
    patient.add(detail::erase_job(std::make_shared<OpenGate>(worked)));
    stage("a");
    world.store.fail_reads(5);

    const std::jthread thread{[&](const std::stop_token& stop) { patient.run(stop); }};

    worked.wait();
}

TEST_F(ServiceTest, a_kind_of_job_has_one_handler) {
    const auto& form = world.engine->add(detail::erase_operation<CountAsOperation>(
        std::make_shared<CountAsOperation>(CountAsOperation{provider})
    ));
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));

    EXPECT_THROW(worker.add(detail::erase_job(std::make_shared<CountInTx>())), std::logic_error);
    EXPECT_THROW(worker.add(detail::kind_of_job<Counted>(), form), std::logic_error);
}

TEST_F(ServiceTest, a_job_whose_worker_died_is_taken_again_after_its_lease) {
    worker.add(detail::erase_job(std::make_shared<CountInTx>()));
    stage("a");
    const auto taken = queue.claim(1, 60s);
    ASSERT_EQ(taken.size(), 1U);

    EXPECT_EQ(queue.rescue(60s), 0);
    world.clock.advance(61s);
    EXPECT_EQ(queue.rescue(60s), 1);
    EXPECT_EQ(worker.run_once(10).done, 1);
    EXPECT_FALSE(queue.finish(taken.front())
    );  // The first worker was alive after all, and is told that it lost the lease.
}

TEST_F(ServiceTest, the_completer_waits_for_the_lease_and_the_grace_time) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);

    EXPECT_EQ(world.complete().completed, 0);
    world.clock.advance(1h);
    EXPECT_EQ(world.complete().completed, 1);
    EXPECT_TRUE(replayed(world.ask<Order>("k", order_of_jane)));
    EXPECT_EQ(provider.charges.size(), 1U);
}

// Issue 16, number 22: a completer without the grace time passed all tests.
TEST_F(ServiceTest, the_completer_leaves_the_grace_time_to_the_client) {
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);  // It gives its lease back.

    world.clock.advance(ops::CompleterOptions{}.grace);
    EXPECT_EQ(world.complete().completed, 0);
    world.clock.advance(1ms);
    EXPECT_EQ(world.complete().completed, 1);
}

// Issue 16, number 22, as the one below: counted as failed runs, deploys alone would put a key on
// the attention list.
TEST_F(ServiceTest, a_key_that_the_completer_meets_while_the_engine_stops_has_not_failed) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(1min);
    world.engine->refuse_new();

    const auto report = world.complete();

    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);
}

TEST_F(ServiceTest, a_key_that_a_client_took_over_before_the_completer_has_not_failed) {
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    world.clock.advance(1min);
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    const int reads = world.store.reads();
    // After those for settlements and for keys: the query of this key.
    world.store.hold_next_read(3);
    ops::CompleterReport report;
    std::jthread round{[&] { report = world.complete(); }};
    world.store.wait_for_reads(reads + 3);
    auto client = world.send<Order>("k", order_of_jane);
    at_call.wait();
    world.store.let_read_go();
    round.join();

    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(world.number("SELECT completer_runs FROM pawl_idempotency_keys"), 0);
    let_go.open();
    EXPECT_EQ(status_of(World::get(std::move(client))), 201);
}

// Found by reading: the failures of all others were not recorded either.
TEST_F(ServiceTest, a_failure_that_cannot_be_recorded_leaves_the_others_recorded) {
    const auto* request = R"({"customer":"thrower","items":[]})";
    (void)world.ask<Order>("one", request);
    (void)world.ask<Order>("other", request);
    world.clock.advance(2h);
    world.store.arm(0, FailingStore::How::undone);
    (void)world.complete();
    const int last_two = world.store.writes();
    ASSERT_EQ(world.count("pawl_idempotency_keys WHERE completer_runs = 1"), 2);

    world.clock.advance(2h);
    world.store.arm(last_two - 1, FailingStore::How::undone, StoreError::Kind::statement);
    (void)world.complete();

    EXPECT_EQ(world.count("pawl_idempotency_keys WHERE completer_runs = 2"), 1);
    EXPECT_EQ(world.count("pawl_idempotency_keys WHERE completer_runs = 1"), 1);
    world.clock.advance(2h);
    world.store.arm(last_two - 1, FailingStore::How::undone, StoreError::Kind::unavailable);
    EXPECT_THROW(world.complete(), StoreError) << "a store that is away fails all";
}

TEST_F(
    ServiceTest, the_completer_gives_up_on_what_fails_too_often_but_clients_failures_never_count
) {
    const auto* request = R"({"customer":"thrower","items":[]})";
    for (int i = 0; i < 40; ++i) (void)world.ask<Order>("k", request);
    EXPECT_EQ(world.count("pawl_attention"), 0);

    int rounds = 0;
    for (; rounds < 200 && world.count("pawl_attention") == 0; ++rounds) {
        world.clock.advance(2h);
        (void)world.complete();
    }

    EXPECT_EQ(world.text("SELECT reason FROM pawl_attention"), "failed-too-often");
    EXPECT_GE(rounds, 12) << "at least 24 h";
    EXPECT_EQ(world.count("orders"), 0);
}

// A round may last as long as its longest call. A client that has taken the key over meanwhile must
// keep it (CAP_IGNORES_LEASE of model/fused.pml).
TEST_F(ServiceTest, the_completer_gives_up_on_no_key_that_a_client_took_over_during_its_round) {
    provider.next({Does::retry, Does::retry});
    for (const auto* key : {"a", "b"}) (void)world.ask<Order>(key, order_of_jane);
    world.execute(
        "UPDATE pawl_idempotency_keys SET completer_runs = 50, completer_first_at = "
        "'2020-01-01T00:00:00.000Z'"
    );
    world.clock.advance(1min);
    // The round's calls: the first fails at once, the second hangs; then the client's call for the
    // first key, which hangs, too.
    provider.next({Does::retry, Does::charge, Does::charge});
    Gate second_at_call;
    Gate second_go;
    Gate third_at_call;
    Gate third_go;
    std::atomic<int> calls{0};
    provider.before([&] {
        const int call = ++calls;
        if (call == 2) {
            second_at_call.open();
            second_go.wait();
        } else if (call == 3) {
            third_at_call.open();
            third_go.wait();
        }
    });
    ops::CompleterReport report;
    std::jthread round{[&] { report = world.complete(); }};
    second_at_call.wait();
    world.clock.advance(2s);
    const std::string given_back = "pawl_idempotency_keys WHERE lease_until IS NULL";
    for (int i = 0; i < 500 && world.engine->keys_in_flight() != 1; ++i)
        std::this_thread::sleep_for(10ms);
    auto client =
        world.send<Order>(world.text("SELECT idempotency_key FROM " + given_back), order_of_jane);
    third_at_call.wait();
    second_go.open();
    round.join();

    EXPECT_EQ(report.to_person, 0);
    EXPECT_EQ(world.count("pawl_attention"), 0);
    third_go.open();
    EXPECT_EQ(status_of(World::get(std::move(client))), 201);
    EXPECT_EQ(provider.charges.size(), 2U);
}

TEST_F(ServiceTest, the_reaper_removes_only_settled_keys_and_keeps_their_registry_rows) {
    (void)world.ask<Order>("done", order_of_jane);
    provider.next({Does::stuck, Does::retry});
    (void)world.ask<Order>("stuck", order_of_jane);
    (void)world.ask<Order>("open", order_of_jane);
    ops::Reaper reaper{world.store, world.clock, {}};

    EXPECT_EQ(reaper.run_once(world.clock.now()).reaped, 0);
    world.clock.advance(std::chrono::hours{73});
    EXPECT_EQ(reaper.run_once(world.clock.now()).reaped, 1);

    EXPECT_EQ(world.count("pawl_idempotency_keys"), 2);
    EXPECT_EQ(world.count("pawl_key_registry WHERE state = 'expired'"), 1);
    world.clock.advance(std::chrono::hours{24 * 400});
    EXPECT_EQ(reaper.run_once(world.clock.now()).forgotten, 0) << "a late repeat is told so still";
    world.clock.advance(1ms);
    EXPECT_EQ(reaper.run_once(world.clock.now()).forgotten, 1);
    EXPECT_EQ(world.count("pawl_key_registry"), 2);
}

}  // namespace
}  // namespace pawl::testing
