#include <pawl/database.hpp>
#include <pawl/service.hpp>

#include "src/ops/service_impl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

// Kinds of jobs in queues of their own (issue 18).
namespace pawl {
namespace {

using namespace std::chrono_literals;

struct Mail {
    static constexpr std::string_view kind = "mail";
    static constexpr JobSettings settings{.queue = "mails"};
    int number{};
};

struct Points {
    static constexpr std::string_view kind = "points";
    int number{};
};

// Has a field of this name, and no queue of its own.
struct Ticket {
    static constexpr std::string_view kind = "ticket";
    std::string queue{};
};

static_assert(queue_of<Mail>() == "mails");
static_assert(queue_of<Points>() == "default");
static_assert(queue_of<Ticket>() == "default" && JobArgs<Ticket>);

struct UpperCase {
    static constexpr std::string_view kind = "mail";
    static constexpr JobSettings settings{.queue = "Mails"};
};
static_assert(!JobArgs<UpperCase>);

struct Urgent {
    static constexpr std::string_view kind = "urgent";
    static constexpr JobSettings settings{.priority = 1, .attempts = 2};
    int number{};
};
struct Bulk {
    static constexpr std::string_view kind = "bulk";
    static constexpr JobSettings settings{.priority = 4};
    std::string partition() const { return "tenant"; }
    int number{};
};
// Has fields of these names, which are not settings, as they are not static.
struct Parcel {
    static constexpr std::string_view kind = "parcel";
    int settings{};
    int setting{};
    std::string partition{};
};
static_assert(detail::kind_of_job<Bulk>().priority == 4);
static_assert(detail::kind_of_job<Bulk>().has_partition);
static_assert(detail::kind_of_job<Urgent>().attempts == 2);
static_assert(JobArgs<Parcel> && detail::kind_of_job<Parcel>().priority == 1);
static_assert(detail::kind_of_job<Parcel>().attempts == std::nullopt);
static_assert(!detail::kind_of_job<Parcel>().has_partition);

// Counts the jobs that wait in their handlers until they may end.
class Gate {
public:
    void pass() {
        std::unique_lock lock{mutex_};
        most_ = std::max(most_, ++inside_);
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        --inside_;
    }
    bool wait_for(int inside) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 10s, [&] { return inside_ >= inside; });
    }
    void open() {
        const std::lock_guard lock{mutex_};
        open_ = true;
        changed_.notify_all();
    }
    int most() {
        const std::lock_guard lock{mutex_};
        return most_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int inside_{0};
    int most_{0};
    bool open_{false};
};

template <class Args>
class Held {
public:
    explicit Held(Gate& gate) : gate_{&gate} {}
    JobResult work(Call&, const Job<Args>&) {
        gate_->pass();
        return done;
    }

private:
    Gate* gate_;
};

class FailingUrgent {
public:
    JobResult work(Call&, const Job<Urgent>&) { throw std::runtime_error{"never"}; }
};

template <class Args>
class Counting {
public:
    explicit Counting(std::atomic<int>& count) : count_{&count} {}
    JobResult work(Call&, const Job<Args>&) {
        ++*count_;
        return done;
    }

private:
    std::atomic<int>* count_;
};

class NamedQueueTest : public ::testing::Test {
protected:
    template <class Args>
    void stage(int jobs = 1) {
        database->write([&](Tx& tx) {
            for (int i = 0; i < jobs; ++i) tx.stage(Args{});
        });
    }
    std::vector<std::string> queues_of_jobs() {
        constexpr Statement<0> list{"list_queues", "SELECT queue FROM pawl_jobs ORDER BY id", {}};
        std::vector<std::string> found;
        database->write([&](Tx& tx) { found = query<std::string>(tx, list); });
        return found;
    }
    bool becomes(int expected) {
        const auto until = std::chrono::steady_clock::now() + 10s;
        while (count < expected && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(1ms);
        return count == expected;
    }

    std::unique_ptr<Database> database = Database::open("sqlite::memory:");
    Gate gate;
    std::atomic<int> count{0};
};

TEST_F(NamedQueueTest, a_job_is_staged_in_the_queue_of_its_kind) {
    stage<Mail>();
    stage<Points>();
    stage<Ticket>();

    EXPECT_EQ(queues_of_jobs(), (std::vector<std::string>{"mails", "default", "default"}));
}

TEST_F(NamedQueueTest, a_queue_has_workers_of_its_own) {
    Service service{*database, {.workers = 1, .queues = {{.name = "mails", .workers = 2}}}};
    service.add(Held<Mail>{gate});
    service.add(Counting<Points>{count});
    stage<Mail>(5);
    stage<Points>(3);

    service.start();

    EXPECT_TRUE(gate.wait_for(2));
    EXPECT_TRUE(becomes(3)) << "the default queue goes on";
    EXPECT_EQ(gate.most(), 2);
    gate.open();
}

TEST_F(NamedQueueTest, one_kind_has_three_quarters_of_the_workers_of_its_queue) {
    Service service{*database, {.workers = 4}};
    service.add(Held<Ticket>{gate});
    service.add(Counting<Points>{count});
    stage<Ticket>(8);

    service.start();

    EXPECT_TRUE(gate.wait_for(3));
    stage<Points>(2);
    EXPECT_TRUE(becomes(2));
    EXPECT_EQ(gate.most(), 3);
    gate.open();
}

// A kind got a queue of its own while jobs of it were waiting in the default queue.
TEST_F(NamedQueueTest, a_job_that_waits_in_the_former_queue_of_its_kind_is_worked) {
    stage<Mail>();
    constexpr Statement<0> move{"move_jobs", "UPDATE pawl_jobs SET queue = 'default'", {}};
    database->write([&](Tx& tx) { execute(tx, move); });
    Service service{*database};
    service.add(Counting<Mail>{count});

    EXPECT_EQ(service.impl().first_tries().run_once(10).done, 1);
    EXPECT_EQ(count, 1);
}

TEST_F(NamedQueueTest, a_queue_holds_its_limit_over_all_servers) {
    const ServiceOptions options{
        .queues = {{.name = "mails", .workers = 8, .retry_layers = {}, .running_max = 3}}};
    Service service{*database, options};
    service.add(Held<Mail>{gate});
    service.add(Counting<Points>{count});
    stage<Mail>(8);

    service.start();

    EXPECT_TRUE(gate.wait_for(3));
    stage<Points>(3);
    EXPECT_TRUE(becomes(3)) << "the default queue goes on";
    EXPECT_EQ(gate.most(), 3);
    gate.open();
}

TEST_F(NamedQueueTest, a_rate_is_used_and_not_waited_for_by_the_poll) {
    Service service{
        *database, {.queues = {{.name = "mails", .rate = {.per_second = 50, .burst = 2}}}}};
    service.add(Counting<Mail>{count});
    stage<Mail>(40);
    const auto began = std::chrono::steady_clock::now();

    service.start();

    EXPECT_TRUE(becomes(40));
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_GE(took, 38 * 20ms - 20ms);
    EXPECT_LT(took, 8s) << "a job each poll would take 19 s";
}

TEST_F(NamedQueueTest, kinds_that_a_queue_can_not_serve_are_refused) {
    const auto why = [&](const ServiceOptions& options, auto handler) -> std::string {
        Service service{*database, options};
        try {
            service.add(std::move(handler));
        } catch (const std::invalid_argument& refused) {
            return refused.what();
        }
        return "accepted";
    };
    const ServiceOptions turns{.queues = {{.name = "mails", .partition_max = 1}}};

    EXPECT_EQ(
        why(turns, Counting<Mail>{count}),
        "pawl: jobs of kind 'mail' need std::string partition() const: their queue has "
        "partition_max"
    );
    EXPECT_EQ(why({}, Counting<Bulk>{count}), "accepted");
    EXPECT_EQ(
        why({.retry_layers = {}}, Counting<Urgent>{count}),
        "pawl: jobs of kind 'urgent' have 2 attempts: their queue has no retry layers"
    );
    EXPECT_EQ(
        why({.queue = "redis://127.0.0.1:1"}, Counting<Bulk>{count}),
        "pawl: jobs of kind 'bulk' have priority 4: only the embedded queue has priorities; use a "
        "queue of their own"
    );
}

TEST_F(NamedQueueTest, a_kind_has_as_many_attempts_as_it_says) {
    Service service{*database, {.retry_layers = {0ms, 0ms, 0ms, 0ms}}};
    service.add(FailingUrgent{});
    stage<Urgent>();
    const auto& workers = service.impl().workers;

    EXPECT_EQ(workers[0]->run_once(1).retried, 1);
    EXPECT_EQ(workers[1]->run_once(1).dead_lettered, 1);
}

TEST_F(NamedQueueTest, a_server_may_leave_a_queue_to_others) {
    Service service{*database, {.queues = {{.name = "mails", .workers = 0}}}};
    service.add(Counting<Mail>{count});
    service.add(Counting<Points>{count});
    stage<Mail>();
    stage<Points>();

    service.start();

    EXPECT_TRUE(becomes(1));
    EXPECT_TRUE(service.stop(20s));
    EXPECT_EQ(queues_of_jobs(), std::vector<std::string>{"mails"});
}

}  // namespace
}  // namespace pawl
