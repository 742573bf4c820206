#include "src/store/postgres/line.hpp"

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
class StillClock final : public base::Clock {
public:
    TimePoint now() override { return TimePoint{}; }
    std::chrono::steady_clock::time_point steady() override { return at; }
    std::chrono::steady_clock::time_point at{1h};
};

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

class EmptyLook final : public store::Look {
public:
    const Sql& statement() const override { return sql_; }
    std::span<const store::Value> parameters() const override { return {}; }
    void row(const store::Row&) override {}
    void done(std::exception_ptr, TimePoint) noexcept override {}

private:
    Sql sql_{"empty", {}, {}};
};

class LineTest : public ::testing::Test {
protected:
    Line::Put put(const std::string& name, Urgency urgency = Urgency::normal) {
        std::unique_ptr<store::Work> work = std::make_unique<NamedWork>(name);
        return line.write(work, urgency);
    }
    Line::Put share(const std::string& name) {
        std::unique_ptr<store::Work> work = std::make_unique<NamedWork>(name, &a_kind);
        return line.write(work, Urgency::normal);
    }
    Line::Put look() {
        std::unique_ptr<store::Look> made = std::make_unique<EmptyLook>();
        return line.look(made);
    }
    static std::string names(const Turn& turn) {
        std::string all;
        for (const auto& work : turn.works) all += dynamic_cast<const NamedWork&>(*work).name;
        return all;
    }

    StillClock clock;
    Line line{{.waiting_max = 50, .sharing = 1, .share_max = 4}, clock};
};

}  // namespace

TEST_F(LineTest, urgent_works_go_first_then_the_oldest) {
    put("a");
    share("b");
    put("c");
    put("!", Urgency::first);

    EXPECT_EQ(names(line.take()), "!");
    EXPECT_EQ(names(line.take()), "a");
    EXPECT_EQ(names(line.take()), "b");
    EXPECT_EQ(names(line.take()), "c");
}

TEST_F(LineTest, works_that_may_share_are_left_to_the_sharing_connection) {
    share("a");
    auto first = line.take();
    for (const auto* name : {"b", "c", "d", "e", "f"}) share(name);
    put("x");

    EXPECT_EQ(names(line.take()), "x");  // Of another connection: older ones wait for the first.
    line.ended(first);
    const auto second = line.take();

    EXPECT_EQ(names(first), "a");
    EXPECT_EQ(names(second), "bcde");  // At most share_max.
    EXPECT_EQ(second.form, Turn::Form::shared);
}

TEST_F(LineTest, lookups_are_combined_on_two_connections) {
    look();
    const auto first = line.take();
    look();
    auto second = line.take();
    for (int i = 0; i < 3; ++i) look();
    put("x");
    EXPECT_EQ(names(line.take()), "x");
    line.ended(second);

    const auto third = line.take();

    EXPECT_EQ(first.looks.size(), 1);
    EXPECT_EQ(second.looks.size(), 1);
    EXPECT_EQ(third.looks.size(), 3);
    EXPECT_EQ(third.form, Turn::Form::looks);
}

TEST_F(LineTest, works_of_a_broken_up_transaction_run_alone_before_later_ones) {
    share("a");
    auto first = line.take();
    share("b");
    share("c");

    line.shared_broke_up();
    line.put_back_alone(std::move(first.works));
    line.ended(first);
    share("d");  // During the pause.

    for (const auto* name : {"a", "b", "c", "d"}) {
        const auto turn = line.take();
        EXPECT_EQ(names(turn), name);
        EXPECT_EQ(turn.form, Turn::Form::write);
    }
}

TEST_F(LineTest, beyond_its_limit_it_accepts_nothing_and_moves_nothing) {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(put("a"), Line::Put::taken);
    std::unique_ptr<store::Work> work = std::make_unique<NamedWork>("b");

    EXPECT_EQ(line.write(work, Urgency::normal), Line::Put::too_many);

    EXPECT_NE(work, nullptr);
    EXPECT_EQ(look(), Line::Put::too_many);
}

TEST_F(LineTest, after_stop_it_returns_waiting_works_and_then_empty_turns) {
    put("a");
    share("b");

    line.stop();

    EXPECT_EQ(put("c"), Line::Put::stopping);
    EXPECT_EQ(names(line.take()), "a");
    EXPECT_EQ(names(line.take()), "b");
    EXPECT_TRUE(line.take().empty());
}

TEST_F(LineTest, stop_wakes_all_waiting_threads) {
    std::vector<std::thread> waiting;
    for (int i = 0; i < 4; ++i) waiting.emplace_back([&] { EXPECT_TRUE(line.take().empty()); });
    std::this_thread::sleep_for(20ms);

    line.stop();

    for (auto& thread : waiting) thread.join();
}

// In any order, with any thread: no work waits while a thread could take it.
TEST_F(LineTest, concurrent_puts_and_takes_lose_nothing) {
    constexpr int each = 2'000;
    std::atomic<int> taken{0};
    std::vector<std::thread> takers;
    std::vector<std::thread> putters;

    for (int i = 0; i < 4; ++i)
        takers.emplace_back([&] {
            for (auto turn = line.take(); !turn.empty(); turn = line.take()) {
                taken += static_cast<int>(turn.works.size() + turn.looks.size());
                line.ended(turn);
            }
        });
    for (int i = 0; i < 3; ++i)
        putters.emplace_back([&, i] {
            for (int n = 0; n < each; ++n) {
                const auto one = [&] { return i == 0 ? put("a") : i == 1 ? share("b") : look(); };
                while (one() == Line::Put::too_many) std::this_thread::yield();
            }
        });
    for (auto& thread : putters) thread.join();
    while (taken < 3 * each) std::this_thread::yield();
    line.stop();
    for (auto& thread : takers) thread.join();

    EXPECT_EQ(taken, 3 * each);
}

}  // namespace pawl::postgres
