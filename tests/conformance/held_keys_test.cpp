#include "src/ops/key_acts.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

// What operators do to open keys: retry, hold, release.
namespace pawl::conformance {

namespace {

using ops::KeyVerb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HeldKeysTest : public KeyTest {
protected:
    struct Audit {
        std::int64_t key_id;
        std::string actor;
        std::string action;
        std::string detail;
    };
    struct Event {
        int attempt;
        std::string events;
    };

    bool act(KeyVerb verb, std::int64_t id, const std::string& reason = "a provider's error") {
        return write_now(*store, [&](Session& session) {
            return ops::act_on_key(session, verb, id, {.by = "ann", .reason = reason});
        });
    }
    ops::KeyActReport act_on_all(KeyVerb verb, const ops::KeyChoice& choice = {}) {
        return ops::act_on_keys(
            *store,
            verb,
            ops::ids_to_act_on(*store, verb, choice),
            {"ann", "all"},
            [this](const ops::KeyActReport& so_far) { reports.push_back(so_far); }
        );
    }
    std::vector<std::int64_t> ids(KeyVerb verb, const ops::KeyChoice& choice = {}) {
        return ops::ids_to_act_on(*store, verb, choice);
    }
    std::vector<std::int64_t> completable() {
        return read_rows<std::int64_t>(
            *store,
            sql::find_completable,
            now(),
            now(),
            1'000,
            now() + 10min,
            now() + 2h,
            R"({"points":[{"operation":"book_ride","point":"ride_created"}]})"
        );
    }
    // A key whose attempt and whose first try by the completer have failed.
    std::int64_t failed_key(const std::string& hash, const std::string& error = "no answer") {
        const auto id = open_key(hash);
        run(sql::fail_attempt, id, 1, "ride_created", error, now());
        run(sql::note_completer_failure, id, now(), now() + 1h);
        return id;
    }
    std::vector<Audit> audits() {
        constexpr auto all = on_all<0>(
            "audits", "SELECT key_id, actor, action, detail FROM pawl_audit_log ORDER BY id"
        );
        return read_rows<Audit>(*store, all);
    }
    int held() {
        constexpr auto count = on_all<0>(
            "held",
            "SELECT count(*) FROM pawl_idempotency_keys "
            "WHERE held_at IS NOT NULL OR held_by IS NOT NULL OR held_why IS NOT NULL"
        );
        return read_rows<int>(*store, count).at(0);
    }
    std::string events_of(std::int64_t id) {
        std::string all;
        for (const auto& row : read_rows<Event>(*store, sql::list_key_events, id))
            all += row.events;
        return all;
    }

    std::vector<ops::KeyActReport> reports;
};
PAWL_ON_EACH_STORE(HeldKeysTest);

}  // namespace

TEST_P(HeldKeysTest, no_attempt_begins_on_a_held_key_until_its_release) {
    const auto id = open_key("hash");
    clock.advance(1min);

    ASSERT_TRUE(act(KeyVerb::hold, id));

    EXPECT_EQ(take_over(id, 1), 0);
    EXPECT_THAT(completable(), IsEmpty());
    const auto found =
        read_now(*store, [&](Session& session) { return engine::find_key(session, "hash"); });
    EXPECT_TRUE(found->held);
    ASSERT_TRUE(act(KeyVerb::release, id));
    EXPECT_THAT(completable(), ElementsAre(id));
    EXPECT_EQ(take_over(id, 1), 1);
}

TEST_P(HeldKeysTest, an_attempt_that_runs_may_end_and_the_end_of_the_request_ends_the_hold) {
    const auto id = open_key("hash");
    ASSERT_TRUE(act(KeyVerb::hold, id));

    EXPECT_EQ(run(sql::renew_lease, id, 1, "ride_created", now() + 40s), 1);
    EXPECT_EQ(finish(id, 1, "ride_created"), 1);

    EXPECT_FALSE(act(KeyVerb::release, id));
    EXPECT_FALSE(act(KeyVerb::hold, id)) << "a finished key";
    EXPECT_EQ(held(), 0);
}

TEST_P(HeldKeysTest, the_attention_list_ends_a_hold_and_takes_none) {
    const auto id = open_key("hash");
    ASSERT_TRUE(act(KeyVerb::hold, id));
    ASSERT_EQ(to_attention(id, 1), 1);

    EXPECT_FALSE(act(KeyVerb::release, id));
    EXPECT_FALSE(act(KeyVerb::hold, id));
    EXPECT_FALSE(act(KeyVerb::retry, id));
    EXPECT_EQ(held(), 0);
}

TEST_P(HeldKeysTest, each_act_is_in_the_audit_and_in_the_time_line) {
    const auto id = open_key("hash");

    EXPECT_TRUE(act(KeyVerb::hold, id));
    EXPECT_FALSE(act(KeyVerb::hold, id, "a second one"));
    EXPECT_FALSE(act(KeyVerb::retry, id)) << "a held key";
    EXPECT_TRUE(act(KeyVerb::release, id, ""));
    EXPECT_FALSE(act(KeyVerb::release, id));
    EXPECT_TRUE(act(KeyVerb::retry, id, std::string(400, 'x')));

    std::vector<std::string> acts;
    for (const auto& audit : audits())
        acts.push_back(audit.actor + ' ' + audit.action + ' ' + audit.detail.substr(0, 20));
    EXPECT_THAT(
        acts,
        ElementsAre(
            "ann hold a provider's error", "ann release ", "ann retry " + std::string(20, 'x')
        )
    );
    const auto events = events_of(id);
    EXPECT_THAT(events, HasSubstr(R"("what":"held","by":"ann")"));
    EXPECT_THAT(events, HasSubstr(R"("what":"hold-ended","by":"ann"})"));
    EXPECT_THAT(events, HasSubstr(R"("what":"retry","by":"ann","detail":"xxx)"));
    EXPECT_LT(events.size(), 900U) << "a long reason is cut";
}

TEST_P(HeldKeysTest, the_choice_has_the_keys_that_the_act_would_change) {
    const auto waiting = failed_key("waiting");
    const auto fresh = open_key("fresh");
    const auto held = failed_key("held");
    ASSERT_TRUE(act(KeyVerb::hold, held));
    finish(open_key("finished"), 1, "ride_created");
    to_attention(open_key("in doubt"), 1);

    EXPECT_THAT(ids(KeyVerb::retry), ElementsAre(waiting));
    EXPECT_THAT(ids(KeyVerb::hold), ElementsAre(waiting, fresh));
    EXPECT_THAT(ids(KeyVerb::release), ElementsAre(held));
}

TEST_P(HeldKeysTest, filters_narrow_the_choice) {
    const auto first = failed_key("first", "card machine timed out");
    clock.advance(1min);
    const auto second = failed_key("second", "no route");

    EXPECT_THAT(ids(KeyVerb::retry, {.operation = "book_ride"}), ElementsAre(first, second));
    EXPECT_THAT(ids(KeyVerb::retry, {.operation = "refund_ride"}), IsEmpty());
    EXPECT_THAT(ids(KeyVerb::retry, {.point = "ride_created"}), ElementsAre(first, second));
    EXPECT_THAT(ids(KeyVerb::retry, {.point = "started"}), IsEmpty());
    EXPECT_THAT(ids(KeyVerb::retry, {.error = "timed out"}), ElementsAre(first));
    EXPECT_THAT(ids(KeyVerb::retry, {.error = "%"}), IsEmpty()) << "it is no pattern";
    EXPECT_THAT(ids(KeyVerb::retry, {.since = now()}), ElementsAre(second));
    EXPECT_THAT(ids(KeyVerb::retry, {.count_max = 1}), ElementsAre(first));
}

TEST_P(HeldKeysTest, a_retry_of_many_works_in_bounded_steps_and_a_second_run_finds_none) {
    constexpr int keys = 2 * ops::key_batch + 1;
    for (int i = 0; i < keys; ++i) failed_key("hash " + std::to_string(i));

    const auto report = act_on_all(KeyVerb::retry);

    EXPECT_EQ(report.chosen, keys);
    EXPECT_EQ(report.done, keys);
    ASSERT_EQ(reports.size(), 3U);
    EXPECT_EQ(reports[0].done, ops::key_batch);
    EXPECT_EQ(audits().size(), static_cast<std::size_t>(keys));
    EXPECT_THAT(ids(KeyVerb::retry), IsEmpty());
    EXPECT_EQ(completable().size(), 0U) << "their clients' grace time";
    clock.advance(1s);
    EXPECT_EQ(completable().size(), static_cast<std::size_t>(keys));
}

TEST_P(HeldKeysTest, a_key_that_changed_after_the_choice_is_left) {
    const auto first = failed_key("first");
    const auto second = failed_key("second");
    const auto chosen = ids(KeyVerb::hold);
    ASSERT_EQ(finish(second, 1, "ride_created"), 1);

    const auto report =
        ops::act_on_keys(*store, KeyVerb::hold, chosen, {"ann", "all"}, [](auto) {});

    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(report.left, 1);
    EXPECT_THAT(ids(KeyVerb::release), ElementsAre(first));
}

}  // namespace pawl::conformance
