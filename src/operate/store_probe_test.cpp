#include "src/operate/store_probe.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace pawl::operate {
namespace {

// Keeps each write until the test ends it. Nothing is run.
class HeldStore final : public store::Store {
public:
    HeldStore() { set_server(7); }
    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency) override {
        held.push_back(std::move(work));
    }
    void read(std::unique_ptr<store::Work>) override {}
    std::string_view text_of(const Sql& statement) const override { return statement.name; }
    void stop() override {}

    void end(const std::exception_ptr& failed = nullptr) {
        held.front()->done(failed);
        held.pop_front();
    }
    std::deque<std::unique_ptr<store::Work>> held;
};

std::exception_ptr error(StoreError::Kind kind) {
    return std::make_exception_ptr(StoreError{
        kind, StoreError::Effect::none, "beat", "the disk is full"});
}

class StoreProbeTest : public ::testing::Test {
protected:
    HeldStore store;
    base::StillClock clock;
    std::vector<std::chrono::nanoseconds> writes;
    StoreProbe probe{store, clock, [this](auto took) { writes.push_back(took); }};
};

TEST_F(StoreProbeTest, measures_a_write_and_sends_one_at_a_time) {
    probe.run_once();
    probe.run_once();
    ASSERT_EQ(store.held.size(), 1U);
    clock.at += 30ms;
    store.end();

    EXPECT_EQ(writes, std::vector<std::chrono::nanoseconds>{30ms});
    EXPECT_EQ(probe.down(), std::nullopt);
}

TEST_F(StoreProbeTest, a_failed_write_means_down_until_one_succeeds) {
    ::testing::internal::CaptureStderr();
    probe.run_once();
    store.end(error(StoreError::Kind::full));
    EXPECT_EQ(probe.down(), "the disk is full");
    clock.at += 1500ms;
    probe.run_once();
    store.end(error(StoreError::Kind::full));
    probe.run_once();
    store.end();

    EXPECT_EQ(probe.down(), std::nullopt);
    const auto log = ::testing::internal::GetCapturedStderr();
    const auto first = log.find("\"store_down\"");
    EXPECT_NE(first, log.npos) << log;
    EXPECT_EQ(log.find("\"store_down\"", first + 1), log.npos) << "once for one outage: " << log;
    EXPECT_NE(log.find("1500"), log.npos) << log;
}

TEST_F(StoreProbeTest, a_write_without_an_answer_means_down_after_the_limit) {
    probe.run_once();
    clock.at += StoreProbe::answer_max;
    probe.run_once();
    EXPECT_EQ(probe.down(), std::nullopt);
    clock.at += 1ms;
    probe.run_once();
    EXPECT_EQ(probe.down(), "a write got no answer for 2000 ms");

    store.end();
    EXPECT_EQ(probe.down(), std::nullopt);
}

TEST_F(StoreProbeTest, a_store_with_too_much_to_do_is_not_down) {
    probe.run_once();
    store.end(error(StoreError::Kind::busy));

    EXPECT_EQ(probe.down(), std::nullopt);
    EXPECT_TRUE(writes.empty());
}

TEST_F(StoreProbeTest, a_service_that_has_stopped_has_no_row_to_write) {
    store.set_server(std::nullopt);
    probe.run_once();

    EXPECT_TRUE(store.held.empty());
}

}  // namespace
}  // namespace pawl::operate
