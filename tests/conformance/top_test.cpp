#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

// What `top` and the page for operators read beside the statements of the other commands.
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
    struct Stuck {
        std::int64_t id;
        TimePoint created_at;
        std::string operation;
        std::string recovery_point;
        std::string status;
        int completer_runs;
        std::optional<TimePoint> next;
        std::optional<std::string> error;
    };
    struct Error {
        std::optional<std::string> target;
        std::string operation;
        std::string point;
        std::string error;
        int keys;
        TimePoint last_at;
        std::int64_t newest;
    };
    std::vector<std::int64_t> stuck(const std::string& points) {
        std::vector<std::int64_t> ids;
        const auto list = R"({"points":[)" + points + "]}";
        const auto found = read_rows<Stuck>(*store, sql::list_stuck_keys, list, 10);
        for (const auto& key : found) ids.push_back(key.id);
        return ids;
    }
    void fail_completer(std::int64_t id, int times) {
        for (int i = 0; i < times; ++i) run(sql::note_completer_failure, id, now(), now() + 1h);
    }
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

TEST_P(TopTest, a_decision_that_could_not_be_carried_out_waits_for_a_person_again) {
    struct Reason {
        std::string reason;
        int count;
        TimePoint since;
    };
    const auto waiting = [&] { return read_rows<Reason>(*store, sql::count_attention); };
    const auto key = open_key("stuck");
    to_attention(key, 1);
    ASSERT_EQ(waiting().size(), 1U);

    run(sql::request_settlement, key, 1, "give-up", std::nullopt, std::nullopt, "ann", "n", now());
    EXPECT_EQ(waiting().size(), 0U);
    run(sql::set_settling_error, key, 1, "a bug");

    ASSERT_EQ(waiting().size(), 1U);
    EXPECT_EQ(waiting()[0].count, 1);
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

TEST_P(TopTest, keys_are_stuck_after_three_failures_of_the_completer_unless_they_are_held) {
    const auto twice = open_key("twice");
    const auto thrice = open_key("thrice");
    const auto held = open_key("held");
    fail_completer(twice, 2);
    fail_completer(thrice, 3);
    fail_completer(held, 3);
    run(sql::hold_key, held, now(), "ann", "a reason");

    EXPECT_THAT(stuck(""), ElementsAre(thrice));
    const auto found = read_rows<Stuck>(*store, sql::list_stuck_keys, R"({"points":[]})", 10);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].completer_runs, 3);
    EXPECT_EQ(found[0].next, now() + 1h);
}

TEST_P(TopTest, unsettled_keys_at_unknown_points_are_listed_with_the_stuck_ones) {
    constexpr auto elsewhere = R"({"operation":"book_ride","point":"charge_created"})";
    constexpr auto here = R"({"operation":"book_ride","point":"ride_created"})";
    const auto open = open_key("open");
    const auto doubt = open_key("in doubt");
    to_attention(doubt, 1);
    finish(open_key("finished"), 1, "ride_created");

    EXPECT_THAT(stuck(elsewhere), ElementsAre());
    EXPECT_THAT(stuck(elsewhere + std::string{","} + here), ElementsAre(open, doubt));
    EXPECT_THAT(stuck(R"({"operation":"refund_ride","point":"ride_created"})"), ElementsAre());
}

TEST_P(TopTest, the_errors_of_unsettled_keys_are_counted_by_their_provider) {
    const auto fail = [&](const std::string& hash, const std::string& error) {
        const auto id = open_key(hash);
        run(sql::fail_attempt, id, 1, "ride_created", error, now());
        return id;
    };
    fail("a", "refused");
    clock.advance(1s);
    const auto newest = fail("b", "refused");
    fail("c", "no answer");
    to_attention(open_key("d"), 1);
    open_key("without an error");

    const auto errors = read_rows<Error>(*store, sql::list_provider_errors, 10);

    ASSERT_EQ(errors.size(), 3U);
    EXPECT_EQ(errors[0].target, "stripe");
    EXPECT_EQ(errors[0].error, "refused");
    EXPECT_EQ(errors[0].keys, 2);
    EXPECT_EQ(errors[0].last_at, now());
    EXPECT_EQ(errors[0].newest, newest);
    EXPECT_EQ(errors[0].operation, "book_ride");
    EXPECT_EQ(errors[0].point, "ride_created");
    EXPECT_EQ(errors[1].error, "why");
    EXPECT_EQ(errors[2].error, "no answer");
    EXPECT_EQ(read_rows<Error>(*store, sql::list_provider_errors, 1).size(), 1U);
}

TEST_P(TopTest, an_error_has_a_provider_at_a_call_also_at_one_that_was_not_made) {
    run(sql::clear_calling, open_key("a"), 1, "ride_created", "not sent", now());
    keep_alone(open_key("b"));

    const auto errors = read_rows<Error>(*store, sql::list_provider_errors, 10);

    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].error, "no such column");
    EXPECT_EQ(errors[0].target, std::nullopt);
    EXPECT_EQ(errors[1].error, "not sent");
    EXPECT_EQ(errors[1].target, "stripe");
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
