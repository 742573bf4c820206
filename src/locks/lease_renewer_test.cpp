#include <pawl/error.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/locks/lease_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <thread>

// What a holder learns while its backend answers, refuses, fails or hangs.
namespace pawl::locks {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Kind = StoreError::Kind;

constexpr LeaseOptions short_one{.ttl = 200ms};

[[noreturn]] void fail(Kind kind) {
    throw StoreError{kind, StoreError::Effect::none, "test", "as the test says"};
}

// Does what the test says; by default grants all requests.
class FakeBackend final : public LeaseBackend {
public:
    struct Does {
        std::function<core::LeaseChoice(std::string_view holder)> acquire{
            [](auto) { return core::LeaseAcquired{7}; }};
        std::function<bool()> extend{[] { return true; }};
        std::function<std::optional<std::string>()> fence_problem{[] { return std::nullopt; }};
    };
    explicit FakeBackend(Does does) : does_{std::move(does)} {}
    core::LeaseChoice acquire(std::string_view, std::string_view holder, milliseconds) override {
        return does_.acquire(holder);
    }
    bool extend(std::string_view, std::int64_t epoch, std::string_view, milliseconds) override {
        EXPECT_EQ(epoch, 7);
        ++extended;
        return does_.extend();
    }
    void release(std::string_view, std::string_view holder) override {
        const std::lock_guard lock{mutex};
        given_back.emplace_back(holder);
    }
    std::optional<std::string> fence_problem() override { return does_.fence_problem(); }

    std::vector<std::string> all_given_back() {
        const std::lock_guard lock{mutex};
        return given_back;
    }
    std::atomic<int> extended{0};

private:
    Does does_;
    std::mutex mutex;
    std::vector<std::string> given_back;
};

// Real time plus what the test adds. Adding wakes no thread, so that a lease may have ended before
// its watcher notices.
class JumpingClock final : public base::Clock {
public:
    TimePoint now() override { return base::system_clock().now(); }
    std::chrono::steady_clock::time_point steady() override {
        return base::system_clock().steady() + milliseconds{ahead_ms_};
    }
    void jump(milliseconds by) { ahead_ms_ += by.count(); }

private:
    std::atomic<std::int64_t> ahead_ms_{0};
};

struct Given {
    explicit Given(
        FakeBackend::Does does = {},
        LeaseTable::Gives gives = LeaseTable::Gives::tokens,
        base::Clock& clock = base::system_clock()
    ) {
        auto made = std::make_unique<FakeBackend>(std::move(does));
        backend = made.get();
        table = std::make_unique<LeaseTable>(std::move(made), gives, clock, base::system_random());
    }
    FakeBackend* backend{};
    std::unique_ptr<LeaseTable> table;
};

template <class F>
bool comes_true(F f, milliseconds within = 10s) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (!f()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

TEST(LeaseRenewer, renews_a_lease_while_it_is_held) {
    Given given;
    const auto held = given.table->try_acquire("report", short_one);

    EXPECT_TRUE(comes_true([&] { return given.backend->extended >= 8; }));

    EXPECT_TRUE(given.table->is_held(*held));
    EXPECT_FALSE(held->lost.stop_requested());
    EXPECT_TRUE(given.table->release(*held));
    EXPECT_FALSE(given.table->is_held(*held));
    EXPECT_FALSE(held->lost.stop_requested()) << "released is not lost";
    EXPECT_EQ(given.backend->all_given_back(), std::vector{held->holder});
    EXPECT_FALSE(given.table->release(*held)) << "it was no more ours";
    EXPECT_EQ(given.backend->all_given_back().size(), 1) << "and the backend is not asked again";
}

TEST(LeaseRenewer, a_lease_that_another_holder_got_is_lost_at_once) {
    Given given{{.extend = [] { return false; }}};
    const auto began = std::chrono::steady_clock::now();
    const auto held = given.table->try_acquire("report", {.ttl = 3s});

    EXPECT_TRUE(comes_true([&] { return held->lost.stop_requested(); }));

    EXPECT_LT(std::chrono::steady_clock::now() - began, 2700ms) << "no need to wait for its end";
    EXPECT_FALSE(given.table->is_held(*held));
    EXPECT_EQ(given.backend->extended, 1);
}

TEST(LeaseRenewer, renewals_are_repeated_and_then_the_lease_is_lost_before_its_end) {
    Given given{{.extend = []() -> bool { fail(Kind::unavailable); }}};
    const auto began = std::chrono::steady_clock::now();
    const auto held = given.table->try_acquire("report", {.ttl = 600ms});
    std::promise<std::chrono::steady_clock::time_point> told;
    const std::stop_callback on_lost{
        held->lost.get_token(), [&] { told.set_value(std::chrono::steady_clock::now()); }};

    const auto lost_after = told.get_future().get() - began;

    EXPECT_GE(lost_after, 500ms);
    EXPECT_GE(given.backend->extended, 3);
    EXPECT_FALSE(given.table->is_held(*held));
}

// Issue 16, number 22. The backend counts a lease from a moment between request and answer: a
// holder that counts from the answer trusts its lease too long.
TEST(LeaseRenewer, a_renewed_leases_times_count_from_the_request) {
    constexpr auto ttl = 2s;
    constexpr auto answer_takes = 300ms;
    using Moment = std::chrono::steady_clock::time_point;
    std::atomic<int> asked{0};
    Moment begun_by;  // The backend is asked at this time or before.
    std::promise<void> renewed;
    std::promise<void> go;
    auto gone = go.get_future().share();
    Given given{{.extend = [&, gone] {
        if (++asked == 1) {
            begun_by = std::chrono::steady_clock::now();
            std::this_thread::sleep_for(answer_takes);
        } else if (asked == 2) {
            renewed.set_value();
            gone.wait();  // The renewer's thread is here: the lease can't change.
        }
        return true;
    }}};

    const auto held = given.table->try_acquire("report", {.ttl = ttl});
    renewed.get_future().wait();

    EXPECT_LE(held->end, core::holder_end(begun_by, ttl));
    EXPECT_GT(held->end, core::holder_end(begun_by, ttl) - answer_takes);
    EXPECT_LE(held->renew_at, core::renewal_due(begun_by, ttl));
    go.set_value();
}

TEST(LeaseRenewer, a_new_leases_times_count_from_the_request) {
    constexpr auto ttl = 2s;
    Given given{{.acquire = [](auto) {
        std::this_thread::sleep_for(200ms);
        return core::LeaseAcquired{7};
    }}};
    const auto asked_at = std::chrono::steady_clock::now();

    const auto held = given.table->try_acquire("report", {.ttl = ttl});

    EXPECT_LT(held->end, core::holder_end(asked_at, ttl) + 200ms);
    EXPECT_GE(held->end, core::holder_end(asked_at, ttl));
}

TEST(LeaseRenewer, a_lease_is_not_held_after_its_end_even_before_the_watcher_notices) {
    JumpingClock clock;
    // Whichever thread falls asleep late, the lease gets no longer.
    Given given{
        {.extend = []() -> bool { fail(Kind::unavailable); }}, LeaseTable::Gives::tokens, clock};
    const auto held = given.table->try_acquire("report", {.ttl = 1min});
    std::this_thread::sleep_for(100ms);  // Until the watcher sleeps.
    clock.jump(53s);
    EXPECT_TRUE(given.table->is_held(*held));

    clock.jump(2s);

    EXPECT_FALSE(given.table->is_held(*held));
    EXPECT_FALSE(given.table->release(*held)) << "it was no more ours";
}

TEST(LeaseRenewer, an_answer_after_the_end_renews_nothing_even_before_the_watcher_notices) {
    JumpingClock clock;
    Given given{
        {.extend =
             [&] {
                 clock.jump(1h);
                 return true;
             }},
        LeaseTable::Gives::tokens,
        clock};

    const auto held = given.table->try_acquire("report", {.ttl = 3s});

    EXPECT_TRUE(comes_true([&] { return held->lost.stop_requested(); }));
    EXPECT_FALSE(given.table->is_held(*held));
    EXPECT_EQ(given.backend->extended, 1);
}

TEST(LeaseRenewer, an_error_that_passes_in_time_costs_nothing) {
    std::atomic<int> tries{0};
    Given given{{.extend = [&]() -> bool {
        if (++tries <= 2) fail(Kind::unavailable);
        return true;
    }}};
    const auto held = given.table->try_acquire("report", {.ttl = 2s});

    EXPECT_TRUE(comes_true([&] { return tries >= 4; }));

    EXPECT_TRUE(given.table->is_held(*held));
}

// The backend hangs; the loss is reported all the same.
TEST(LeaseRenewer, a_hanging_renewal_does_not_delay_the_report_of_the_loss) {
    std::promise<void> go;
    auto gone = go.get_future().share();
    Given given{{.extend = [gone] {
        gone.wait();
        return true;
    }}};
    const auto held = given.table->try_acquire("report", short_one);

    EXPECT_TRUE(comes_true([&] { return held->lost.stop_requested(); }));
    EXPECT_FALSE(given.table->is_held(*held));
    go.set_value();

    EXPECT_FALSE(comes_true([&] { return given.table->is_held(*held); }, 100ms))
        << "what came too late brings nothing back";
}

TEST(LeaseTable, waits_for_another_holder_to_give_it_back) {
    std::atomic<int> looks{0};
    std::set<std::string> holders;
    Given given{{.acquire = [&](std::string_view holder) -> core::LeaseChoice {
        holders.emplace(holder);
        if (++looks < 4) return core::LeaseHeld{30s};
        return core::LeaseAcquired{7};
    }}};

    EXPECT_EQ(given.table->try_acquire("report", short_one), nullptr);
    const auto held = given.table->acquire("report", 10s, short_one, {});

    ASSERT_NE(held, nullptr);
    EXPECT_EQ(looks, 4);
    EXPECT_EQ(holders.size(), 2) << "one for each acquisition, however often it looks";
}

TEST(LeaseTable, waits_at_most_as_long_as_told_and_ends_on_a_stop) {
    Given given{{.acquire = [](auto) { return core::LeaseHeld{30s}; }}};
    const auto began = std::chrono::steady_clock::now();

    EXPECT_EQ(given.table->acquire("report", 150ms, short_one, {}), nullptr);
    const auto waited = std::chrono::steady_clock::now() - began;
    EXPECT_GE(waited, 150ms);

    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        return given.table->acquire("report", 1h, short_one, stop.get_token());
    });
    EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_EQ(waiting.get(), nullptr);
}

// Found by reading: the longest of all waits ended before it began.
TEST(LeaseTable, the_longest_possible_wait_works) {
    std::atomic<int> looks{0};
    Given given{{.acquire = [&](auto) -> core::LeaseChoice {
        if (++looks < 3) return core::LeaseHeld{1ms};
        return core::LeaseAcquired{7};
    }}};

    EXPECT_NE(given.table->acquire("report", milliseconds::max(), short_one, {}), nullptr);
    EXPECT_NE(given.table->acquire("mails", milliseconds::min(), short_one, {}), nullptr);
}

TEST(LeaseTable, waits_through_temporary_errors_and_throws_others) {
    std::atomic<int> looks{0};
    Given given{{.acquire = [&](auto) -> core::LeaseChoice {
        if (++looks < 3) fail(Kind::unavailable);
        return core::LeaseAcquired{7};
    }}};
    Given broken{{.acquire = [](auto) -> core::LeaseChoice { fail(Kind::statement); }}};
    Given away{{.acquire = [](auto) -> core::LeaseChoice { fail(Kind::unavailable); }}};

    EXPECT_NE(given.table->acquire("report", 10s, short_one, {}), nullptr);
    EXPECT_THROW(broken.table->acquire("report", 1h, short_one, {}), StoreError);
    EXPECT_THROW(away.table->acquire("report", 50ms, short_one, {}), StoreError);
    EXPECT_THROW(away.table->try_acquire("report", short_one), StoreError);
}

TEST(LeaseTable, a_lease_that_was_granted_after_its_ttl_is_refused) {
    Given given{{.acquire = [](auto) -> core::LeaseChoice {
        std::this_thread::sleep_for(120ms);
        return core::LeaseAcquired{7};
    }}};

    EXPECT_THROW(given.table->try_acquire("report", {.ttl = 100ms}), StoreError);

    EXPECT_EQ(given.backend->all_given_back().size(), 1);
}

TEST(LeaseTable, no_fencing_lease_is_given_if_an_epoch_may_repeat) {
    const FakeBackend::Does everysec{.fence_problem = [] { return "appendfsync = everysec"; }};
    Given fencing{everysec};
    Given efficiency{everysec, LeaseTable::Gives::no_tokens};

    EXPECT_THROW(fencing.table->try_acquire("report", short_one), StoreError);
    EXPECT_EQ(fencing.backend->all_given_back().size(), 1) << "others need not wait for it";
    EXPECT_NE(efficiency.table->try_acquire("report", short_one), nullptr);
}

}  // namespace
}  // namespace pawl::locks
