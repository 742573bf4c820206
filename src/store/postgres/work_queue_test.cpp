#include "src/store/postgres/work_queue.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace pawl::postgres {

namespace {

using namespace std::chrono_literals;
using store::Urgency;

constexpr char a_kind{};
class NamedWork final : public store::Work {
public:
    explicit NamedWork(std::string called, const void* kind = nullptr)
        : name{std::move(called)}, kind_{kind} {}
    void run(store::Session&) override {}
    void done(std::exception_ptr) noexcept override {}
    const void* kind() const override { return kind_; }
    const std::string name;

private:
    const void* kind_;
};

class EmptyLook final : public store::Lookup {
public:
    const Sql& statement() const override { return sql_; }
    std::span<const store::Value> parameters() const override { return {}; }
    void row(const store::Row&) override {}
    void done(std::exception_ptr, TimePoint) noexcept override {}

private:
    Sql sql_{"empty", {}, {}};
};

class WorkQueueTest : public ::testing::Test {
protected:
    WorkQueue::Put put(const std::string& name, Urgency urgency = Urgency::normal) {
        std::unique_ptr<store::Work> work = std::make_unique<NamedWork>(name);
        return queue.write(work, urgency);
    }
    WorkQueue::Put share(const std::string& name) {
        std::unique_ptr<store::Work> work = std::make_unique<NamedWork>(name, &a_kind);
        return queue.write(work, Urgency::normal);
    }
    WorkQueue::Put lookup() {
        std::unique_ptr<store::Lookup> made = std::make_unique<EmptyLook>();
        return queue.lookup(made);
    }
    static std::string names(const WorkBatch& batch) {
        std::string all;
        for (const auto& work : batch.works) all += dynamic_cast<const NamedWork&>(*work).name;
        return all;
    }

    base::StillClock clock;
    WorkQueue queue{{.waiting_max = 50, .sharing = 1, .share_max = 4}, clock};
};

}  // namespace

// A connection that waits would otherwise take the first one alone.
TEST_F(WorkQueueTest, works_that_are_put_together_are_taken_together) {
    WorkBatch taken;
    std::thread connection{[&] { taken = queue.take(); }};
    std::this_thread::sleep_for(20ms);
    std::vector<std::unique_ptr<store::Work>> works;
    for (const auto* name : {"a", "b", "c", "d", "e"})
        works.push_back(std::make_unique<NamedWork>(name, &a_kind));

    EXPECT_EQ(queue.write_all(works), std::vector<WorkQueue::Put>(5, WorkQueue::Put::taken));
    connection.join();

    EXPECT_EQ(names(taken), "abcd");
}

TEST_F(WorkQueueTest, urgent_works_go_first_then_the_oldest) {
    put("a");
    share("b");
    put("c");
    put("!", Urgency::first);
    EXPECT_EQ(queue.waiting(), 4);

    EXPECT_EQ(names(queue.take()), "!");
    EXPECT_EQ(names(queue.take()), "a");
    EXPECT_EQ(names(queue.take()), "b");
    EXPECT_EQ(names(queue.take()), "c");
    EXPECT_EQ(queue.waiting(), 0);
}

TEST_F(WorkQueueTest, works_that_may_share_are_left_to_the_sharing_connection) {
    share("a");
    auto first = queue.take();
    for (const auto* name : {"b", "c", "d", "e", "f"}) share(name);
    put("x");

    EXPECT_EQ(names(queue.take()), "x");  // Of another connection: older ones wait for the first.
    queue.ended(first);
    const auto second = queue.take();

    EXPECT_EQ(names(first), "a");
    EXPECT_EQ(names(second), "bcde");  // At most share_max.
    EXPECT_EQ(second.form, WorkBatch::Form::shared);
}

TEST_F(WorkQueueTest, lookups_are_combined_on_two_connections) {
    lookup();
    const auto first = queue.take();
    lookup();
    auto second = queue.take();
    for (int i = 0; i < 3; ++i) lookup();
    put("x");
    EXPECT_EQ(names(queue.take()), "x");
    queue.ended(second);

    const auto third = queue.take();

    EXPECT_EQ(first.lookups.size(), 1);
    EXPECT_EQ(second.lookups.size(), 1);
    EXPECT_EQ(third.lookups.size(), 3);
    EXPECT_EQ(third.form, WorkBatch::Form::lookups);
}

TEST_F(WorkQueueTest, works_of_a_broken_up_transaction_run_alone_before_later_ones) {
    share("a");
    auto first = queue.take();
    share("b");
    share("c");

    queue.shared_broke_up();
    queue.reschedule_alone(std::move(first.works));
    queue.ended(first);
    share("d");  // During the pause.

    for (const auto* name : {"a", "b", "c", "d"}) {
        const auto batch = queue.take();
        EXPECT_EQ(names(batch), name);
        EXPECT_EQ(batch.form, WorkBatch::Form::write);
    }
}

TEST_F(WorkQueueTest, beyond_its_limit_it_accepts_nothing_and_moves_nothing) {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(put("a"), WorkQueue::Put::taken);
    std::unique_ptr<store::Work> work = std::make_unique<NamedWork>("b");

    EXPECT_EQ(queue.write(work, Urgency::normal), WorkQueue::Put::too_many);

    EXPECT_NE(work, nullptr);
    EXPECT_EQ(lookup(), WorkQueue::Put::too_many);
}

TEST_F(WorkQueueTest, after_stop_it_returns_waiting_works_and_then_empty_turns) {
    put("a");
    share("b");

    queue.stop();

    EXPECT_EQ(put("c"), WorkQueue::Put::stopping);
    EXPECT_EQ(names(queue.take()), "a");
    EXPECT_EQ(names(queue.take()), "b");
    EXPECT_TRUE(queue.take().empty());
}

TEST_F(WorkQueueTest, stop_wakes_all_waiting_threads) {
    std::vector<std::thread> waiting;
    for (int i = 0; i < 4; ++i) waiting.emplace_back([&] { EXPECT_TRUE(queue.take().empty()); });
    std::this_thread::sleep_for(20ms);

    queue.stop();

    for (auto& thread : waiting) thread.join();
}

// In any order, with any thread: no work waits while a thread could take it.
TEST_F(WorkQueueTest, concurrent_puts_and_takes_lose_nothing) {
    constexpr int each = 2'000;
    std::atomic<int> taken{0};
    std::vector<std::thread> takers;
    std::vector<std::thread> putters;

    for (int i = 0; i < 4; ++i)
        takers.emplace_back([&] {
            for (auto batch = queue.take(); !batch.empty(); batch = queue.take()) {
                taken += static_cast<int>(batch.works.size() + batch.lookups.size());
                queue.ended(batch);
            }
        });
    for (int i = 0; i < 3; ++i)
        putters.emplace_back([&, i] {
            for (int n = 0; n < each; ++n) {
                const auto one = [&] { return i == 0 ? put("a") : i == 1 ? share("b") : lookup(); };
                while (one() == WorkQueue::Put::too_many) std::this_thread::yield();
            }
        });
    for (auto& thread : putters) thread.join();
    while (taken < 3 * each) std::this_thread::yield();
    queue.stop();
    for (auto& thread : takers) thread.join();

    EXPECT_EQ(taken, 3 * each);
}

}  // namespace pawl::postgres
