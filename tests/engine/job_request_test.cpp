#include "src/base/time_text.hpp"
#include "src/ops/job_requests.hpp"
#include "src/ops/key_acts.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

// A job that is an operation has one owner: while its key is not settled, that is the completer
// (issue 38, part 2).
namespace pawl::testing::job_request_test {
namespace {

class ChargeLater : public OrderSteps {
public:
    static constexpr std::string_view name = "charge_later";
    using Started = pawl::Started<OrderJob>;
    using OrderSteps::OrderSteps;
    Next<Ordered> begin(Tx&, const Started& at) { return Ordered{at.request.customer}; }
    Finish end(Tx&, const Charged& at) { return answer(201, at); }
    using Flow = Steps<
        Atomic<&ChargeLater::begin>,
        Foreign<
            Repeat::safe_with_key,
            &ChargeLater::charge,
            &ChargeLater::keep_payment,
            &ChargeLater::keep_refusal>,
        Atomic<&ChargeLater::end>>;
};

class JobRequestTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{payment_tables});
        auto form = detail::erase_operation(std::make_shared<ChargeLater>(provider));
        worker.add(detail::kind_of_job<OrderJob>(), world.engine->add(std::move(form)));
        store::write_now(world.store, [&](store::Session& session) {
            detail::TxFactory::with_tx(
                {session, base::system_random(), std::nullopt, nullptr},
                [&](Tx& tx) {
                    tx.stage(OrderJob{"jane"});
                    return 0;
                }
            );
        });
    }
    void fail_once() {
        provider.next({Does::retry});
        ASSERT_EQ(worker.run_once(1).retried, 1);
    }
    std::string key() {
        return world.text(
            "SELECT status || CASE WHEN held_at IS NULL THEN '' ELSE ' held' END "
            "FROM pawl_idempotency_keys"
        );
    }
    // What an older release has left: its layers have ended, and its key is open.
    void make_dead() {
        const auto job = queue.claim(1, options.lease).front();
        ASSERT_TRUE(queue.dead_letter(job, "503 from the provider"));
    }
    std::vector<std::string> dead_ids() {
        std::vector<std::string> ids;
        for (const auto& letter : letters.page({}, "", 10)) ids.push_back(letter.id);
        return ids;
    }
    void charge_by_the_completer() {
        for (int i = 0; i < 5; ++i) {
            world.clock.advance(1h);
            (void)world.complete();
        }
    }

    const queue::AuditEntry act{"ann", "do not charge them"};
    Provider provider;
    World world;
    queue::EmbeddedQueue queue{world.store};
    queue::EmbeddedDeadLetters inner_letters{world.store};
    queue::EmbeddedJobs inner_jobs{world.store};
    ops::RequestsOfDeadLetters letters{world.store, inner_letters};
    ops::RequestsOfJobs jobs{world.store, inner_jobs};
    ops::WorkerOptions options{.retry_layers = {10s}};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::Worker worker{*world.engine, queue, pauses, options};
};

TEST_F(JobRequestTest, a_job_whose_key_is_open_is_not_retried_by_layers_and_calls_nobody) {
    fail_once();
    for (int i = 0; i < 10; ++i) {
        world.clock.advance(1h);
        EXPECT_EQ(worker.run_once(1).retried, 1);
    }
    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 0);

    EXPECT_EQ(world.complete().completed, 1);
    world.clock.advance(1h);
    EXPECT_EQ(worker.run_once(1).done, 1);
    EXPECT_EQ(provider.keys.size(), 2U);
}

// During a deploy, with a worker of a release that does not know the kind.
TEST_F(JobRequestTest, no_worker_makes_a_job_a_dead_letter_while_its_key_is_open) {
    fail_once();
    ops::Worker of_another_release{*world.engine, queue, pauses, options};
    for (int i = 0; i < 5; ++i) {
        world.clock.advance(1h);
        (void)of_another_release.run_once(1);
    }
    EXPECT_EQ(world.count("pawl_dead_jobs"), 0);
    EXPECT_EQ(world.count("pawl_jobs"), 1);
}

TEST_F(JobRequestTest, how_often_it_asks_grows_with_the_age_of_the_request) {
    fail_once();
    const auto wait = [&] {
        world.execute("UPDATE pawl_jobs SET run_at = '" + base::time_text(world.clock.now()) + "'");
        EXPECT_EQ(worker.run_once(1).retried, 1);
        return world.number(
            "SELECT CAST(round(86400 * (julianday(run_at) - julianday('" +
            base::time_text(world.clock.now()) + "'))) AS INTEGER) FROM pawl_jobs"
        );
    };
    EXPECT_EQ(wait(), 1);
    world.clock.advance(1min);
    EXPECT_EQ(wait(), 60);
    world.clock.advance(24h);
    EXPECT_EQ(wait(), 600);
}

TEST_F(JobRequestTest, lists_name_the_request_and_its_state) {
    EXPECT_FALSE(jobs.page({}, "", 10).front().request);
    fail_once();
    const auto job = jobs.page({}, "", 10).front();
    ASSERT_TRUE(job.request);
    EXPECT_EQ(job.request->state, "open");
    EXPECT_EQ(jobs.find(job.id)->request->id, job.request->id);
    world.clock.advance(1h);
    make_dead();

    const auto letter = letters.page({}, "", 10).front();

    ASSERT_TRUE(letter.request);
    EXPECT_EQ(letter.request->state, "open");
    EXPECT_EQ(letters.find(letter.id)->request->state, "open");
}

TEST_F(JobRequestTest, after_a_purge_nobody_makes_its_call) {
    fail_once();
    world.clock.advance(1h);
    make_dead();

    const auto purged = letters.purge(dead_ids(), act);

    EXPECT_EQ(purged.done, 1);
    EXPECT_EQ(purged.held, 1);
    EXPECT_EQ(key(), "open held");
    charge_by_the_completer();
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(
        world.text("SELECT held_why FROM pawl_idempotency_keys"), "dlq purge: do not charge them"
    );
}

// A purge that is stopped between the two, or whose queue does not answer, has held the request.
TEST_F(JobRequestTest, a_purge_holds_the_request_before_it_removes_the_job) {
    fail_once();
    world.clock.advance(1h);
    make_dead();
    const auto ids = dead_ids();
    world.store.arm(2, FailingStore::How::refused);  // The first write holds it.

    EXPECT_ANY_THROW((void)letters.purge(ids, act));

    EXPECT_EQ(key(), "open held");
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
    EXPECT_EQ(letters.purge(ids, act).done, 1);
}

TEST_F(JobRequestTest, a_purge_leaves_a_job_whose_request_is_at_work) {
    fail_once();
    world.clock.advance(1h);
    make_dead();
    world.execute(
        "UPDATE pawl_idempotency_keys SET lease_until = '" +
        base::time_text(world.clock.now() + 20s) + "'"
    );

    auto purged = letters.purge(dead_ids(), act);

    EXPECT_EQ(purged.done, 0);
    EXPECT_EQ(purged.at_work, 1);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
    world.clock.advance(30s);
    purged = letters.purge(dead_ids(), act);
    EXPECT_EQ(purged.done, 1);
    charge_by_the_completer();
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(JobRequestTest, after_a_cancellation_nobody_makes_its_call_and_a_merge_lets_it_go_on) {
    fail_once();
    const auto id = jobs.page({}, "", 10).front().id;

    const auto cancelled = jobs.cancel(std::span{&id, 1}, act);

    EXPECT_EQ(cancelled.cancelled, 1);
    EXPECT_EQ(cancelled.held, 1);
    charge_by_the_completer();
    EXPECT_EQ(provider.keys.size(), 1U);

    EXPECT_EQ(letters.merge(dead_ids(), act, std::nullopt).done, 1);
    EXPECT_EQ(key(), "open");
    charge_by_the_completer();
    EXPECT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(worker.run_once(1).done, 1);
}

TEST_F(JobRequestTest, a_merge_ends_no_hold_that_a_person_began) {
    fail_once();
    world.clock.advance(1h);
    make_dead();
    world.execute(
        "UPDATE pawl_idempotency_keys SET held_at = created_at, held_by = 'joe', "
        "held_why = 'which card?'"
    );

    EXPECT_EQ(letters.merge(dead_ids(), act, std::nullopt).done, 1);

    EXPECT_EQ(key(), "open held");
}

TEST_F(JobRequestTest, a_person_can_hold_the_request_of_a_cancelled_job_and_a_merge_leaves_that) {
    fail_once();
    const auto id = jobs.page({}, "", 10).front().id;
    jobs.cancel(std::span{&id, 1}, act);

    const auto found = ops::ids_to_act_on(world.store, ops::KeyVerb::hold, {});
    ASSERT_EQ(found, std::vector<std::int64_t>{1});
    ops::act_on_keys(
        world.store, ops::KeyVerb::hold, found, {"ann", "fraud"}, [](const auto&) {}
    );

    EXPECT_TRUE(ops::ids_to_act_on(world.store, ops::KeyVerb::hold, {}).empty());
    EXPECT_EQ(letters.merge(dead_ids(), act, std::nullopt).done, 1);
    EXPECT_EQ(key(), "open held");
    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_idempotency_keys WHERE held_by = 'ann'"), 1);
}

}  // namespace
}  // namespace pawl::testing::job_request_test
