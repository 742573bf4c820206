#include "src/ops/pauses.hpp"
#include "src/ops/reaper.hpp"
#include "tests/conformance/each_store.hpp"

// What jobs of an external queue use in the database, on each store: the inbox of done jobs, and
// the pauses.
namespace pawl::conformance {

namespace {

class InboxTest : public OnEachStore {
protected:
    std::int64_t done(const std::string& jid) {
        return write_one(*store, sql::insert_done, jid, clock.now());
    }
    ops::Reaper reaper{*store, clock, {.keep_done = 24h}};
};
PAWL_ON_EACH_STORE(InboxTest);

class PausesTest : public OnEachStore {
protected:
    ops::Pauses pauses{*store, clock, 500ms};
    ops::Pauses of_another_server{*store, clock, 0ms};
};
PAWL_ON_EACH_STORE(PausesTest);

}  // namespace

TEST_P(InboxTest, a_job_is_done_once) {
    EXPECT_EQ(done("jid"), 1);

    EXPECT_EQ(done("jid"), 0);
    EXPECT_EQ(done("another"), 1);
}

TEST_P(InboxTest, a_rolled_back_job_is_not_done) {
    EXPECT_ANY_THROW(write_now(*store, [&](Session& session) {
        EXPECT_EQ(change(session, sql::insert_done, "jid", clock.now()), 1);
        throw std::runtime_error{"after all"};
    }));

    EXPECT_EQ(done("jid"), 1);
}

TEST_P(InboxTest, a_done_job_is_forgotten_when_it_cannot_be_delivered_again) {
    done("old");
    clock.advance(24h);
    done("new");
    EXPECT_EQ(reaper.run_once(clock.now()).done_forgotten, 0);

    clock.advance(1ms);

    EXPECT_EQ(reaper.run_once(clock.now()).done_forgotten, 1);
    EXPECT_EQ(done("new"), 0);
    EXPECT_EQ(done("old"), 1);
}

TEST_P(PausesTest, pausing_a_queue_affects_all_servers_and_no_other_queue) {
    EXPECT_FALSE(of_another_server.paused("default"));

    EXPECT_TRUE(pauses.pause("default", "ann", "the printer burns"));

    EXPECT_TRUE(of_another_server.paused("default"));
    EXPECT_FALSE(of_another_server.paused("mails"));
    const auto list = of_another_server.list();
    ASSERT_EQ(list.size(), 1);
    EXPECT_EQ(list[0].queue, "default");
    EXPECT_EQ(list[0].since, clock.now());
    EXPECT_EQ(list[0].by, "ann");
    EXPECT_EQ(list[0].reason, "the printer burns");
}

TEST_P(PausesTest, the_first_pause_stays_recorded) {
    pauses.pause("default", "ann", "the printer burns");

    EXPECT_FALSE(pauses.pause("default", "joe", "me too"));

    EXPECT_EQ(pauses.list().at(0).by, "ann");
    EXPECT_TRUE(pauses.resume("default", "joe", ""));
    EXPECT_FALSE(pauses.resume("default", "joe", ""));
}

TEST_P(PausesTest, the_pauses_are_read_twice_a_second) {
    EXPECT_FALSE(pauses.paused("default"));
    of_another_server.pause("default", "ann", "");
    clock.advance(499ms);
    EXPECT_FALSE(pauses.paused("default"));

    clock.advance(1ms);

    EXPECT_TRUE(pauses.paused("default"));
}

}  // namespace pawl::conformance
