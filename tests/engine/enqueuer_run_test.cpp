#include "src/base/clock.hpp"
#include "src/ops/enqueuer.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// The enqueuer on its own thread, with a queue that goes away and comes back.

class Outside final : public queue::Pusher {
public:
    queue::PushReport push(std::span<const queue::StagedJob> jobs) override {
        const std::lock_guard lock{mutex_};
        ++tries_;
        changed_.notify_all();
        if (away_)
            throw StoreError{
                StoreError::Kind::unavailable, StoreError::Effect::none, "push", "away"};
        queue::PushReport report;
        for (const auto& job : jobs) {
            report.sent.push_back(job.id);
            ++arrived_;
        }
        return report;
    }
    void be_away(bool away) {
        const std::lock_guard lock{mutex_};
        away_ = away;
    }
    bool is_tried(int n, std::chrono::milliseconds within) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, within, [&] { return tries_ >= n; });
    }
    void wait_for_tries(int n) {
        if (!is_tried(n, 20s)) throw std::logic_error{"nobody pushed in 20 s"};
    }
    void wait_for_jobs(int n) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, 20s, [&] { return arrived_ >= n; }))
            throw std::logic_error{"not all jobs came in 20 s"};
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int tries_{0};
    int arrived_{0};
    bool away_{false};
};

class EnqueuerRunTest : public ::testing::Test {
protected:
    EnqueuerRunTest() {
        enqueuer.on_sent([this](int jobs) { told += jobs; });
    }
    void stage(const std::string& jid) {
        world.execute(
            "INSERT INTO pawl_staged_jobs (jid, queue, kind, args, run_at, created_at) VALUES ('" +
            jid + "', 'default', 'k', '{}', '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z')"
        );
    }
    void put_in_the_embedded_queue(const std::string& jid) {
        world.execute(
            "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) VALUES ('" +
            jid +
            "', 'default', 'k', '{}', 'ready', '2020-01-01T00:00:00.000Z', "
            "'2020-01-01T00:00:00.000Z')"
        );
    }
    std::jthread run() {
        return std::jthread{[this](const std::stop_token& stop) { enqueuer.run(stop); }};
    }
    World world;
    Outside outside;
    ops::Enqueuer enqueuer{
        world.store,
        base::system_clock(),
        &outside,
        {.wait_first = 1h, .wait_max = 1h, .outage_wait_max = 5ms}};
    std::atomic<int> told{0};
};

TEST_F(EnqueuerRunTest, a_wake_up_ends_its_sleep) {
    const int looks = world.store.reads() + 2;  // For jobs, here and from another setting.
    const auto thread = run();
    world.store.wait_for_reads(looks);
    stage("a");

    enqueuer.wake();

    outside.wait_for_jobs(1);
}

TEST_F(EnqueuerRunTest, an_unreachable_queue_is_retried_until_it_is_back) {
    outside.be_away(true);
    stage("a");
    const auto thread = run();
    outside.wait_for_tries(3);
    enqueuer.wake();  // Must not cause an immediate try.

    outside.be_away(false);

    outside.wait_for_jobs(1);
}

// Issue 16, number 22, as the test below. Each commit that stages a job wakes the enqueuer.
TEST_F(EnqueuerRunTest, while_the_queue_is_unreachable_a_wake_up_causes_no_immediate_try) {
    ops::Enqueuer patient{
        world.store,
        base::system_clock(),
        &outside,
        {.wait_first = 1h, .wait_max = 1h, .outage_wait_max = 1h}};
    outside.be_away(true);
    stage("a");
    const std::jthread thread{[&](const std::stop_token& stop) { patient.run(stop); }};
    outside.wait_for_tries(1);

    patient.wake();

    EXPECT_FALSE(outside.is_tried(2, 200ms));
}

TEST_F(EnqueuerRunTest, moved_jobs_are_sent_at_once) {
    put_in_the_embedded_queue("left");
    const auto thread = run();

    outside.wait_for_jobs(1);
}

TEST_F(EnqueuerRunTest, jobs_left_in_the_embedded_queue_are_sent_too) {
    put_in_the_embedded_queue("left");
    stage("staged");
    {
        const auto thread = run();
        outside.wait_for_jobs(2);
    }

    EXPECT_EQ(world.count("pawl_jobs"), 0);
    EXPECT_EQ(world.count("pawl_staged_jobs"), 0);
    EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace pawl::testing
