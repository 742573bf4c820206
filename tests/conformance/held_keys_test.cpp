#include "src/ops/key_acts.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

#include <map>

// What operators do to keys that are not settled: retry, hold, release, hand over.
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
    struct Unrecorded {
        std::int64_t count;
        std::string operation;
        std::string point;
        TimePoint since;
        int tries;
        std::int64_t sample;
        std::string error;
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
    // As an attempt whose keeper fails.
    void store_result(std::int64_t id) {
        run(sql::fail_attempt, id, 1, "ride_created", "a bug", now());
        run(sql::store_unrecorded_result,
            id,
            0,
            "ride_created",
            "Charge",
            R"({"id":"ch_1"})",
            "a bug",
            now());
    }
    template <class... A>
    int rows_of(const Sql& query, const A&... arguments) {
        return read_now(*store, [&](Session& session) {
            int rows = 0;
            detail::run_statement(
                session, query, [&](const detail::Row&) { ++rows; }, arguments...
            );
            return rows;
        });
    }
    int unrecorded() {
        constexpr auto count =
            on_all<0>("unrecorded", "SELECT count(*) FROM pawl_unrecorded_results");
        return read_rows<int>(*store, count).at(0);
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

TEST_P(HeldKeysTest, no_decision_on_a_held_key_is_carried_out_until_its_release) {
    const auto id = open_key("hash");
    ASSERT_TRUE(act(KeyVerb::hold, id));
    ASSERT_EQ(to_attention(id, 1, "in-doubt"), 1);
    const std::optional<std::string> none;
    ASSERT_EQ(run(sql::request_settlement, id, 1, "give-up", none, none, "ann", "seen", now()), 1);
    const auto due = [&] { return rows_of(sql::find_settlements, 10, now(), now() + 1h); };
    const auto take = [&] {
        return run(sql::take_from_attention, id, 1, 0, now() + 30s, now(), server);
    };

    EXPECT_EQ(due(), 0);
    EXPECT_EQ(take(), 0);
    EXPECT_FALSE(act(KeyVerb::hold, id));
    EXPECT_FALSE(act(KeyVerb::retry, id));
    ASSERT_TRUE(act(KeyVerb::release, id));
    EXPECT_EQ(due(), 1);
    run(sql::set_settling_error, id, 1, "a bug in the keeper");
    EXPECT_EQ(due(), 0);
    EXPECT_EQ(run(sql::retry_settlements), 1) << "at the start of a server";
    EXPECT_EQ(due(), 1);
    EXPECT_EQ(take(), 1);
}

TEST_P(HeldKeysTest, a_retry_takes_from_the_attention_list_what_can_go_on_by_itself) {
    const auto worn_out = open_key("worn out");
    to_attention(worn_out, 1, "failed-too-often");
    const auto in_doubt = open_key("in doubt");
    to_attention(in_doubt, 1, "in-doubt");
    const auto has_result = open_key("has a result");
    to_attention(has_result, 1, "in-doubt");
    run(sql::keep_result_for_person, has_result, "Charge", R"({"id":"ch_1"})", 0, "ride_created");
    const auto decided = open_key("decided");
    to_attention(decided, 1, "stuck");
    const std::optional<std::string> none;
    run(sql::request_settlement, decided, 1, "give-up", none, none, "ann", "seen", now());

    EXPECT_THAT(ids(KeyVerb::retry), ElementsAre(worn_out, has_result));
    EXPECT_EQ(act_on_all(KeyVerb::retry).done, 2);

    EXPECT_EQ(state(worn_out).status, "open");
    EXPECT_EQ(state(worn_out).attempt, 2) << "a late write of the first attempt is fenced";
    EXPECT_EQ(state(in_doubt).status, "attention");
    EXPECT_FALSE(act(KeyVerb::retry, decided));
    EXPECT_EQ(rows_of(sql::find_unrecorded_result, has_result, 0, "ride_created"), 1);
    EXPECT_EQ(rows_of(sql::find_unrecorded_result, has_result, 1, "ride_created"), 0);
}

TEST_P(HeldKeysTest, an_open_key_is_handed_over_with_its_result_when_no_attempt_works_on_it) {
    const auto id = open_key("hash");
    EXPECT_FALSE(act(KeyVerb::hand_over, id));
    EXPECT_THAT(ids(KeyVerb::hand_over), IsEmpty());
    store_result(id);
    EXPECT_THAT(ids(KeyVerb::hand_over), ElementsAre(id));

    ASSERT_TRUE(act(KeyVerb::hand_over, id));

    EXPECT_EQ(state(id).status, "attention");
    constexpr auto kept = on_all<0>(
        "kept", "SELECT reason || ' ' || result_name || ' ' || result FROM pawl_attention"
    );
    EXPECT_EQ(read_rows<std::string>(*store, kept).at(0), R"(by-operator Charge {"id":"ch_1"})");
    EXPECT_EQ(unrecorded(), 0);
}

TEST_P(HeldKeysTest, at_the_start_of_a_server_keys_that_failed_at_its_own_code_are_due) {
    const auto with_result = open_key("with a result");
    store_result(with_result);
    run(sql::note_completer_failure, with_result, now(), now() + 1h);
    const auto at_a_phase = open_key("at a phase");
    keep_alone(at_a_phase);
    run(sql::note_completer_failure, at_a_phase, now(), now() + 1h);
    const auto at_its_call = failed_key("at its call");
    constexpr auto waiting = on_all<0>(
        "waiting",
        "SELECT id FROM pawl_idempotency_keys WHERE completer_next_at IS NOT NULL ORDER BY id"
    );

    EXPECT_EQ(
        run(sql::retry_defects,
            now(),
            R"({"points":[{"operation":"book_ride","point":"charge_created"}]})",
            10),
        2
    );

    EXPECT_THAT(read_rows<std::int64_t>(*store, waiting), ElementsAre(at_its_call));
}

TEST_P(HeldKeysTest, results_that_wait_are_counted_by_error_while_their_keys_are_open) {
    const auto first = open_key("first");
    store_result(first);
    store_result(first);
    const auto second = open_key("second");
    store_result(second);
    const auto settled = open_key("settled by an older release");
    store_result(settled);
    to_attention(settled, 1);

    const auto groups = read_rows<Unrecorded>(*store, sql::count_unrecorded_results, 10);

    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].count, 2);
    EXPECT_EQ(groups[0].tries, 2);
    EXPECT_EQ(groups[0].error, "a bug");
    EXPECT_EQ(run(sql::delete_unrecorded_result, first), 1);
    EXPECT_EQ(unrecorded(), 2);
    run(sql::delete_unrecorded_results,
        R"({"keys":[{"id":)" + std::to_string(second) + R"(,"outcome":201}]})");
    EXPECT_EQ(unrecorded(), 1);
}

// A job's request is found by the hash of its key.
TEST_P(HeldKeysTest, the_requests_of_jobs_have_a_state) {
    struct Request {
        std::string hash;
        std::int64_t id;
        std::string state;
        std::optional<std::string> held_why;
        TimePoint created_at;
    };
    const auto running = open_key("running");
    const auto free = failed_key("free");
    const auto held = failed_key("held");
    ASSERT_TRUE(act(KeyVerb::hold, held));
    const auto listed = open_key("listed");
    to_attention(listed, 1);
    finish(open_key("finished"), 1, "ride_created");
    open_key("of no job");

    std::map<std::string, std::string> states;
    const auto hashes = std::string{R"(["running","free","held","listed","finished","unknown"])"};
    for (const auto& one : read_rows<Request>(*store, sql::find_requests_of_jobs, hashes, now()))
        states[one.hash] = one.state;

    EXPECT_EQ(
        states,
        (std::map<std::string, std::string>{
            {"running", "running"},
            {"free", "open"},
            {"held", "held"},
            {"listed", "attention"},
            {"finished", "finished"}})
    );
    EXPECT_NE(running, free);
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
    const auto in_doubt = open_key("in doubt");
    to_attention(in_doubt, 1, "in-doubt");

    EXPECT_THAT(ids(KeyVerb::retry), ElementsAre(waiting));
    EXPECT_THAT(ids(KeyVerb::hold), ElementsAre(waiting, fresh, in_doubt));
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
