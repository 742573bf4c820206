#include "src/queue/redis/redis_queue.hpp"

#include "src/queue/redis/payload.hpp"
#include "src/queue/redis/redis_dead_letters.hpp"
#include "src/queue/redis/redis_jobs.hpp"
#include "src/queue/redis/redis_pusher.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/conformance/queue_world.hpp"
#include "tests/redis/redis_server.hpp"

#include <functional>
#include <set>

// Sidekiq's queues in a real Redis, one for the process. The pusher adds jobs, as for the enqueuer;
// handlers write to a memory store.
namespace pawl::conformance {

namespace {

class RedisWorld final : public QueueWorld {
public:
    explicit RedisWorld(redis::SidekiqTimes times)
        : client_{options(times), &clock, {}, queue::sidekiq::scripts::all},
          home_{Stores::memory, clock},
          store_{home_.open_filled()} {}
    store::Store& store() override { return *store_; }
    std::unique_ptr<queue::Queue> open(const std::string& name) override {
        return std::make_unique<queue::RedisQueue>(client_, name);
    }
    std::unique_ptr<queue::Queue> open_limited(const core::QueueLimits& limits) override {
        return std::make_unique<queue::RedisQueue>(client_, "default", limits);
    }
    std::unique_ptr<queue::DeadLetters> open_dead_letters() override {
        return std::make_unique<queue::RedisDeadLetters>(client_, *store_);
    }
    std::unique_ptr<queue::Jobs> open_jobs() override {
        return std::make_unique<queue::RedisJobs>(
            client_, *store_, std::set<std::string, std::less<>>{}
        );
    }
    void stage(const Job& job) override {
        queue::StagedJob staged;
        staged.jid = job.jid;
        staged.queue = job.queue;
        staged.kind = job.kind;
        staged.args = job.args;
        staged.key_id = job.key_id;
        staged.created_at = clock.now();
        if (job.due_in > 0ms) return schedule(staged, clock.now() + job.due_in);
        const auto report = queue::RedisPusher{client_}.push(std::span{&staged, 1});
        ASSERT_EQ(report.sent.size(), 1);
    }

private:
    static redis::Options options(redis::SidekiqTimes times) {
        auto options = testing::empty_redis().options();
        options.times = times;
        return options;
    }
    // As perform_in does; the enqueuer only sends due jobs.
    void schedule(const queue::StagedJob& job, TimePoint at) {
        const auto payload = queue::sidekiq::payload_of(job, clock.now(), client_.options().times);
        client_.ask(
            "test",
            {"ZADD", "schedule", queue::sidekiq::score_of(at), std::get<std::string>(payload)},
            redis::Access::write,
            redis::Shape::integer
        );
    }

    redis::Client client_;
    StoreHome home_;
    std::unique_ptr<store::Store> store_;
};

std::vector<QueueKind> redis_kinds() {
    using redis::SidekiqTimes;
    return {
        {"sidekiq7", [] { return std::make_unique<RedisWorld>(SidekiqTimes::seconds); }},
        {"sidekiq8", [] { return std::make_unique<RedisWorld>(SidekiqTimes::milliseconds); }}};
}
PAWL_ON_QUEUES_WITH_LIMITS(Redis, redis_kinds());
PAWL_ON_QUEUES_WITH_JOBS(Redis, redis_kinds());

}  // namespace

}  // namespace pawl::conformance
