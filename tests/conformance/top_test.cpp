#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

// What `top` reads beside the statements of the other commands.
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::Field;

class TopTest : public KeyTest {
protected:
    struct Old {
        std::int64_t id;
        TimePoint created_at;
        std::string operation;
        std::string recovery_point;
        std::string status;
        std::optional<TimePoint> lease_until;
        bool held;
        int completer_runs;
        std::optional<std::string> error;
    };
    struct Retries {
        int failures;
        int count;
        TimePoint next;
    };
    int new_keys(TimePoint since, int most = 10) {
        return read_rows<int>(*store, sql::count_new_keys, since, now(), most).at(0);
    }
    void failed_job(const std::string& jid, int failures, TimePoint run_at) {
        run(sql::insert_job,
            jid,
            "default",
            "mail",
            "{}",
            run_at,
            std::optional<std::int64_t>{},
            now());
        constexpr auto fail =
            on_all<2>("fail_in_test", "UPDATE pawl_jobs SET failures = $2 WHERE jid = $1");
        run(fail, jid, failures);
    }
};
PAWL_ON_EACH_STORE(TopTest);

}  // namespace

TEST_P(TopTest, new_keys_are_counted_up_to_a_limit) {
    open_key("before");
    const auto since = now();
    clock.advance(1s);
    open_key("one");
    finish(open_key("two"), 1, "ride_created");

    EXPECT_EQ(new_keys(since), 2);
    EXPECT_EQ(new_keys(since, 1), 1);
    EXPECT_EQ(new_keys(now()), 0);
}

TEST_P(TopTest, the_oldest_unsettled_keys_come_first_whoever_they_wait_for) {
    finish(open_key("finished"), 1, "ride_created");
    const auto in_doubt = open_key("in doubt");
    ASSERT_EQ(to_attention(in_doubt, 1), 1);
    clock.advance(1s);
    const auto held = open_key("held");
    run(sql::hold_key, held, now(), "ann", "a reason");
    clock.advance(1s);
    open_key("third");

    const auto found = read_rows<Old>(*store, sql::list_oldest_unsettled, 2);

    ASSERT_THAT(found, ElementsAre(Field(&Old::id, in_doubt), Field(&Old::id, held)));
    EXPECT_EQ(found[0].status, "attention");
    EXPECT_EQ(found[0].error, "why");
    EXPECT_FALSE(found[0].held);
    EXPECT_EQ(found[1].status, "open");
    EXPECT_EQ(found[1].lease_until, now() + 29s);
    EXPECT_TRUE(found[1].held);
}

TEST_P(TopTest, jobs_that_wait_for_another_try_are_counted_by_their_failures) {
    failed_job("new", 0, now());
    failed_job("a", 1, now() + 10s);
    failed_job("b", 1, now() + 5s);
    failed_job("c", 3, now() + 1min);

    const auto found = read_rows<Retries>(*store, sql::count_retries);

    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].failures, 1);
    EXPECT_EQ(found[0].count, 2);
    EXPECT_EQ(found[0].next, now() + 5s);
    EXPECT_EQ(found[1].failures, 3);
    EXPECT_EQ(found[1].count, 1);
}

}  // namespace pawl::conformance
