#include "src/engine/waiters.hpp"

#include "src/store/memory/memory_store.hpp"
#include "src/store/migrate.hpp"
#include "store/migrations.hpp"
#include "tests/engine/hand_timers.hpp"
#include "tests/engine/world.hpp"

#include <gmock/gmock.h>

#include <future>

namespace pawl::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Woken = Waiters::Woken;
using Parked = Waiters::Parked;

class HeldReads final : public store::Store {
public:
    explicit HeldReads(base::Clock& clock) : inner_{clock} {
        store::apply_migrations(inner_, "pawl", sql::migrations::all);
    }
    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override {
        inner_.write(std::move(work), urgency);
    }
    void read(std::unique_ptr<store::Work> work) override { held.push_back(std::move(work)); }
    std::string_view text_of(const Sql& statement) const override {
        return inner_.text_of(statement);
    }
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override {
        if (on_listen) on_listen();
        tell = std::move(on_notice);
        return nullptr;
    }
    void stop() override { inner_.stop(); }
    void answer() {
        for (auto& work : std::exchange(held, {})) inner_.read(std::move(work));
    }
    void fail() {
        for (auto& work : std::exchange(held, {}))
            work->done(std::make_exception_ptr(StoreError{
                StoreError::Kind::unavailable, StoreError::Effect::none, "find_held", "away"}));
    }
    std::vector<std::unique_ptr<store::Work>> held;
    store::OnNotice tell;
    std::function<void()> on_listen;

private:
    memory::MemoryStore inner_;
};

// No key is held: each poll finds that the wait is over.
class WaitersTest : public ::testing::Test {
protected:
    Parked park(const std::string& hash, std::chrono::milliseconds longest = 10s) {
        return waiters.park(hash, clock.steady() + longest, [this, hash](Woken how) {
            const std::string word = how == Woken::retry_claim ? "poll "
                                     : how == Woken::too_late  ? "late "
                                                               : "stop ";
            woken.push_back(word + hash);
        });
    }
    base::StillClock clock;
    HeldReads store{clock};
    HandTimers timers;
    Waiters waiters{store, clock, timers, {.every = 250ms, .keys_max = 3, .lease = 30s}};
    std::vector<std::string> woken;
};

TEST_F(WaitersTest, one_poll_serves_all_and_wakes_those_whose_wait_has_ended) {
    EXPECT_EQ(park("aa"), Parked::waits);
    EXPECT_EQ(park("bb"), Parked::waits);
    timers.pass(250ms);
    ASSERT_EQ(store.held.size(), 1U);

    store.answer();

    EXPECT_THAT(woken, ::testing::UnorderedElementsAre("poll aa", "poll bb"));
    EXPECT_EQ(waiters.size(), 0U);
}

// Found by reading: it used members that were already destroyed.
TEST_F(WaitersTest, its_end_waits_for_a_running_park) {
    std::future<void> end;
    store.on_listen = [&] {
        waiters.stop();
        end = std::async(std::launch::async, [&] { waiters.finish(); });
        EXPECT_EQ(end.wait_for(50ms), std::future_status::timeout);
    };

    EXPECT_EQ(park("aa"), Parked::waits);

    EXPECT_EQ(end.wait_for(20s), std::future_status::ready);
    EXPECT_THAT(woken, ElementsAre("stop aa"));
}

TEST_F(WaitersTest, the_number_of_waited_keys_is_limited) {
    EXPECT_EQ(park("aa"), Parked::waits);
    EXPECT_EQ(park("bb"), Parked::waits);
    EXPECT_EQ(park("cc"), Parked::waits);

    EXPECT_EQ(park("dd"), Parked::too_many);
}

TEST_F(WaitersTest, a_woken_entry_neither_times_out_nor_is_found) {
    EXPECT_EQ(park("aa"), Parked::waits);
    timers.pass(250ms);
    ASSERT_EQ(store.held.size(), 1U);
    store.tell("aa");
    ASSERT_THAT(woken, ElementsAre("poll aa"));

    store.answer();
    timers.pass(10s);

    EXPECT_THAT(woken, ElementsAre("poll aa"));
}

TEST_F(WaitersTest, the_end_of_a_stay_does_not_end_the_next_stay_of_its_key) {
    EXPECT_EQ(park("aa", 1s), Parked::waits);
    store.tell("aa");
    EXPECT_EQ(park("aa", 2s), Parked::waits);

    timers.pass(1s);
    EXPECT_THAT(woken, ElementsAre("poll aa"));
    timers.pass(2s);

    EXPECT_THAT(woken, ElementsAre("poll aa", "late aa"));
}

// Notices may have been lost, and the running poll may have been earlier than they were.
TEST_F(WaitersTest, notices_lost_during_a_poll_cause_another_one_at_once) {
    EXPECT_EQ(park("aa"), Parked::waits);
    timers.pass(250ms);
    ASSERT_EQ(store.held.size(), 1U);
    EXPECT_EQ(park("bb"), Parked::waits);
    store.tell("");
    EXPECT_EQ(store.held.size(), 1U) << "one at a time";

    store.answer();
    EXPECT_THAT(woken, ElementsAre("poll aa"));
    ASSERT_EQ(store.held.size(), 1U);
    store.answer();

    EXPECT_THAT(woken, ElementsAre("poll aa", "poll bb"));
}

TEST_F(WaitersTest, a_failed_poll_wakes_no_waiter_and_is_repeated) {
    EXPECT_EQ(park("aa"), Parked::waits);
    timers.pass(250ms);
    store.fail();
    EXPECT_THAT(woken, IsEmpty());

    timers.pass(250ms);
    store.answer();

    EXPECT_THAT(woken, ElementsAre("poll aa"));
}

TEST_F(WaitersTest, without_waiters_there_is_no_poll) {
    EXPECT_EQ(park("aa"), Parked::waits);
    store.tell("aa");

    timers.pass(250ms);
    store.tell("");

    EXPECT_TRUE(store.held.empty());
}

TEST_F(WaitersTest, a_stop_during_a_poll_wakes_all_and_accepts_no_more) {
    EXPECT_EQ(park("aa"), Parked::waits);
    timers.pass(250ms);
    ASSERT_EQ(store.held.size(), 1U);

    waiters.stop();

    EXPECT_THAT(woken, ElementsAre("stop aa"));
    EXPECT_EQ(park("bb"), Parked::stopping);
    store.tell("");
    store.answer();
    waiters.finish();
    EXPECT_TRUE(store.held.empty());
    EXPECT_THAT(woken, ElementsAre("stop aa"));
}

}  // namespace
}  // namespace pawl::engine
