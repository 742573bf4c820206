#include "tests/conformance/key_world.hpp"

// The attention list, its settlements, and the completer's query for open keys.
namespace pawl::conformance {

namespace {

class AttentionTest : public KeyTest {
protected:
    std::int64_t settle(std::int64_t id, int attempt, const std::string& settlement) {
        return run(
            sql::request_settlement,
            id,
            attempt,
            settlement,
            "Charge",
            R"({"id":"ch_1"})",
            "jane",
            "seen in the dashboard",
            now()
        );
    }
    struct Settlement {
        std::int64_t key_id;
        int attempt;
        std::string recovery_point;
        std::string settlement;
        std::optional<std::string> result_name;
        std::optional<std::string> result;
        std::optional<std::string> by;
        TimePoint decided_at;
    };
    std::vector<Settlement> settlements() { return settlements(now()); }
    std::vector<Settlement> settlements(TimePoint decided_by) {
        const auto too_far_ahead = decided_by + 1min;
        return read_rows<Settlement>(*store, sql::find_settlements, 10, decided_by, too_far_ahead);
    }
    std::vector<std::int64_t> completable_at(
        const std::string& point, TimePoint lease_over_since, int limit = 10
    ) {
        const auto known = R"({"points":[{"operation":"book_ride","point":")" + point + R"("}]})";
        return read_rows<std::int64_t>(
            *store,
            sql::find_completable,
            lease_over_since,
            now(),
            limit,
            now() + 10min,
            now() + 2h,
            known
        );
    }
    std::vector<std::int64_t> completable(TimePoint lease_over_since, int limit = 10) {
        return completable_at("ride_created", lease_over_since, limit);
    }
    using Text = std::optional<std::string>;
    struct Doubt {
        std::int64_t key_id;
        int attempt;
        std::string recovery_point;
        std::string operation;
        std::string recovery_data;
    };
    // The columns of list_attention and show_attention.
    struct Entry {
        std::int64_t key_id;
        std::string tenant;
        std::string account;
        std::string key;
        std::string operation;
        std::string recovery_point;
        int attempt;
        std::string reason;
        std::string detail;
        std::optional<std::string> result_name;
        std::optional<std::string> result;
        TimePoint since;
        std::optional<std::string> settlement;
        std::optional<std::string> settled_by;
        std::optional<std::string> settled_note;
        std::optional<TimePoint> settled_at;
        std::optional<std::string> settling_error;
        std::optional<std::string> call_key;
        std::optional<TimePoint> called_at;
        std::optional<std::string> call_target;
        std::string recovery_data;
        std::optional<std::string> inquiry;
        std::optional<std::string> inquiry_detail;
        std::optional<TimePoint> inquired_at;
        std::optional<int> inquiries;
        std::optional<std::string> held_at, held_by;
    };
};
PAWL_ON_EACH_STORE(AttentionTest);

}  // namespace

TEST_P(AttentionTest, keys_that_need_a_person_are_listed_oldest_first_with_all_details) {
    const auto second = open_key("second");
    clock.advance(1s);
    const auto first = open_key("first");
    to_attention(first, 1, "in-doubt");
    clock.advance(1s);
    to_attention(second, 1, "forgotten");

    const auto listed = read_rows<Entry>(*store, sql::list_attention, 10);
    const auto shown = read_rows<Entry>(*store, sql::show_attention, first);

    ASSERT_EQ(listed.size(), 2);
    EXPECT_EQ(listed[0].key_id, first);
    EXPECT_EQ(listed[1].key_id, second);
    ASSERT_EQ(shown.size(), 1);
    EXPECT_EQ(shown[0].key, "key of first");
    EXPECT_EQ(shown[0].reason, "in-doubt");
    EXPECT_EQ(shown[0].call_key, "call key");
    EXPECT_EQ(shown[0].call_target, "stripe");
    EXPECT_EQ(shown[0].recovery_data, R"({"ride":1})");
    EXPECT_FALSE(shown[0].settlement);
    EXPECT_EQ(read_rows<Entry>(*store, sql::list_attention, 1).size(), 1);
}

TEST_P(AttentionTest, the_provider_s_last_answer_stands_beside_its_call) {
    const auto id = open_key("hash");
    to_attention(id, 1, "in-doubt");
    const std::string point{"ride_created"};
    run(sql::note_inquiry, id, 7, point, now(), "not-found", "another call of the key");
    EXPECT_FALSE(read_rows<Entry>(*store, sql::show_attention, id)[0].inquiry);
    run(sql::note_inquiry, id, 0, point, now(), "undecided", "busy");
    const auto since = now();
    clock.advance(1min);
    run(sql::note_inquiry, id, 0, point, now(), "not-found", "not in its list");

    const auto shown = read_rows<Entry>(*store, sql::show_attention, id)[0];

    EXPECT_EQ(shown.inquiry, "not-found");
    EXPECT_EQ(shown.inquiry_detail, "not in its list");
    EXPECT_EQ(shown.inquired_at, now());
    EXPECT_EQ(shown.inquiries, 2);
    EXPECT_EQ(read_rows<TimePoint>(*store, sql::find_inquiry, id, 0, point), std::vector{since});
}

TEST_P(AttentionTest, an_event_finds_the_doubt_of_its_call) {
    const auto id = open_key("hash");
    to_attention(id, 1, "in-doubt");
    const auto found = [&](Text call_key, Text client_key, Text target) {
        return static_cast<int>(
            read_rows<Doubt>(*store, sql::find_doubt_of_event, call_key, client_key, target).size()
        );
    };

    EXPECT_EQ(found("call key", {}, "stripe"), 1);
    EXPECT_EQ(found("call", {}, {}), 1);  // A provider with shorter keys.
    EXPECT_EQ(found("another", "key of hash", {}), 0);
    EXPECT_EQ(found({}, "key of hash", "stripe"), 1);
    EXPECT_EQ(found({}, "key of hash", "another bank"), 0);
    EXPECT_EQ(found({}, {}, {}), 0);
    settle(id, 1, "happened");
    EXPECT_EQ(found("call key", {}, {}), 0);
}

TEST_P(AttentionTest, an_empty_or_too_long_reason_is_refused) {
    const auto id = open_key("hash");

    for (const auto& reason : {std::string{}, std::string(51, 'x')}) {
        const auto error = error_of([&] { to_attention(id, 1, reason); });
        EXPECT_EQ(error.kind(), StoreError::Kind::constraint);
    }

    EXPECT_EQ(state(id).status, "open") << "both, or neither";
}

TEST_P(AttentionTest, a_decision_is_carried_out_once_and_fenced_by_the_attempt_it_was_made_on) {
    const auto id = open_key("hash");
    to_attention(id, 1);

    EXPECT_EQ(settle(id, 2, "happened"), 0) << "of another attempt";
    EXPECT_EQ(settle(id, 1, "happened"), 1);
    EXPECT_EQ(settle(id, 1, "give-up"), 0) << "one decision at a time";

    const auto found = settlements();
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].key_id, id);
    EXPECT_EQ(found[0].settlement, "happened");
    EXPECT_EQ(found[0].result_name, "Charge");
    EXPECT_EQ(found[0].by, "jane");
    EXPECT_EQ(run(sql::take_from_attention, id, 2, 0, now() + 30s, now(), server), 0);
    EXPECT_EQ(run(sql::take_from_attention, id, 1, 1, now() + 30s, now(), server), 1);
    EXPECT_EQ(run(sql::take_from_attention, id, 1, 1, now() + 30s, now(), server), 0);
    EXPECT_EQ(run(sql::delete_attention, id, 2, now()), 0);
    EXPECT_EQ(run(sql::delete_attention, id, 1, now()), 1);
    EXPECT_TRUE(settlements().empty());
    const auto after = state(id);
    EXPECT_EQ(after.status, "open");
    EXPECT_EQ(after.attempt, 2);
}

// Issue 16, number 17.
TEST_P(AttentionTest, a_decision_is_found_only_once_it_is_old_enough) {
    const auto id = open_key("hash");
    to_attention(id, 1);
    settle(id, 1, "happened");

    EXPECT_TRUE(settlements(now() - 1ms).empty());
    EXPECT_EQ(settlements(now()).size(), 1);
    EXPECT_TRUE(settlements(now() - 1min).empty());
    EXPECT_EQ(settlements(now() - 1min - 1ms).size(), 1) << "a clock that was set back";
}

// Issue 16, number 17: taken back after the server has found it.
TEST_P(AttentionTest, a_decision_that_was_taken_back_is_not_carried_out) {
    const auto id = open_key("hash");
    to_attention(id, 1);
    settle(id, 1, "happened");
    const auto found = settlements().at(0);
    clock.advance(1s);

    EXPECT_EQ(run(sql::undo_settlement, id, 2), 0) << "of another attempt";
    EXPECT_EQ(run(sql::undo_settlement, id, 1), 1);
    EXPECT_EQ(run(sql::undo_settlement, id, 1), 0) << "nothing is decided";

    EXPECT_TRUE(settlements().empty());
    EXPECT_EQ(run(sql::delete_attention, id, 1, found.decided_at), 0);
    EXPECT_EQ(settle(id, 1, "give-up"), 1);
    EXPECT_EQ(run(sql::delete_attention, id, 1, found.decided_at), 0) << "another decision";
    EXPECT_EQ(run(sql::delete_attention, id, 1, now()), 1);
}

TEST_P(AttentionTest, a_decision_that_could_not_be_carried_out_may_be_repeated) {
    const auto id = open_key("hash");
    to_attention(id, 1);
    settle(id, 1, "happened");

    EXPECT_EQ(run(sql::set_settling_error, id, 1, "the keeper refused it"), 1);

    EXPECT_TRUE(settlements().empty());
    EXPECT_EQ(
        read_rows<Entry>(*store, sql::show_attention, id).at(0).settling_error,
        "the keeper refused it"
    );
    EXPECT_EQ(settle(id, 1, "did-not-happen"), 1);
    EXPECT_EQ(settlements().at(0).settlement, "did-not-happen");
}

TEST_P(AttentionTest, a_late_result_is_kept_for_the_person_and_the_first_one_stays) {
    const auto id = open_key("hash");
    to_attention(id, 1);

    EXPECT_EQ(
        run(sql::keep_result_for_person, id, "Charge", R"({"id":"ch_9"})", 1, "ride_created"), 0
    ) << "of a call of another generation";
    EXPECT_EQ(
        run(sql::keep_result_for_person, id, "Charge", R"({"id":"ch_1"})", 0, "ride_created"), 1
    );
    EXPECT_EQ(
        run(sql::keep_result_for_person, id, "Charge", R"({"id":"ch_2"})", 0, "ride_created"), 0
    );
    EXPECT_EQ(
        run(sql::keep_result_for_person, id, "Charge", R"({"id":"ch_1"})", 0, "ride_created"), 1
    ) << "whose commit was in doubt writes it again";

    EXPECT_EQ(read_rows<Entry>(*store, sql::show_attention, id).at(0).result, R"({"id":"ch_1"})");
}

TEST_P(AttentionTest, the_completer_finds_open_keys_whose_lease_has_been_over_for_the_grace_time) {
    const auto dropped = open_key("dropped");
    const auto given_back = open_key("given back");
    const auto finished = open_key("finished");
    const auto stuck = open_key("stuck");
    run(sql::fail_attempt, given_back, 1, "ride_created", "error", now());
    finish(finished, 1, "ride_created");
    to_attention(stuck, 1);
    const auto lease_end = now() + 30s;

    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{});
    EXPECT_EQ(completable(now() + 1ms), std::vector<std::int64_t>{given_back});
    EXPECT_EQ(completable(lease_end), std::vector<std::int64_t>{given_back});
    EXPECT_EQ(completable(lease_end + 1ms), (std::vector<std::int64_t>{dropped, given_back}));
    EXPECT_EQ(completable(lease_end + 1ms, 1), std::vector<std::int64_t>{dropped});
}

// Its server may be of an older release: another one knows the point.
TEST_P(AttentionTest, the_completer_finds_no_key_at_a_point_that_its_program_does_not_know) {
    const auto id = open_key("stranded");
    const auto over = now() + 1h;

    EXPECT_EQ(completable_at("charged", over), std::vector<std::int64_t>{});
    EXPECT_EQ(completable_at("ride_created", over), std::vector<std::int64_t>{id});
}

TEST_P(AttentionTest, a_key_is_put_off_unless_somebody_works_on_it_or_has_put_it_off) {
    const auto id = open_key("undecodable");
    const auto put_off = [&] { return run(sql::put_off_key, id, now() + 10s, now()); };
    EXPECT_EQ(put_off(), 0) << "its lease";
    clock.advance(31s);
    EXPECT_EQ(put_off(), 1);
    EXPECT_EQ(put_off(), 0);
    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{});
    clock.advance(10s);
    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{id});
    finish(id, 1, "ride_created");
    EXPECT_EQ(put_off(), 0) << "it is not open";
}

TEST_P(AttentionTest, a_failed_run_of_the_completer_is_counted_and_puts_the_key_off) {
    struct Failures {
        int runs;
        TimePoint first_at;
    };
    const auto id = open_key("hash");
    run(sql::fail_attempt, id, 1, "ride_created", "error", now());
    const auto first_at = now();
    auto fail = [&] {
        return write_now(*store, [&](Session& session) {
            return rows<Failures>(session, sql::note_completer_failure, id, now(), now() + 1min)
                .at(0);
        });
    };

    EXPECT_EQ(fail().runs, 1);
    clock.advance(30s);
    const auto second = fail();

    EXPECT_EQ(second.runs, 2);
    EXPECT_EQ(second.first_at, first_at);
    EXPECT_TRUE(completable(now()).empty());
    EXPECT_EQ(run(sql::release_for_retry, id, now()), 1);
    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{id});
    EXPECT_EQ(fail().runs, 1) << "an operator's word starts the count anew";
    EXPECT_EQ(run(sql::set_completer_next, id, now() + 2h), 1);
    EXPECT_TRUE(completable(now()).empty());
    EXPECT_EQ(run(sql::set_completer_next, id, now() + 2h + 1ms), 1);  // Written by a fast clock.
    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{id});
    EXPECT_EQ(run(sql::set_completer_next, id, now()), 1);
    EXPECT_EQ(completable(now()), std::vector<std::int64_t>{id});
}

TEST_P(AttentionTest, a_key_that_is_not_open_is_neither_counted_nor_released) {
    const auto id = open_key("hash");
    to_attention(id, 1);

    EXPECT_EQ(run(sql::note_completer_failure, id, now(), now()), 0);
    EXPECT_EQ(run(sql::release_for_retry, id, now()), 0);
    EXPECT_EQ(run(sql::set_completer_next, id, now()), 0);
}

TEST_P(AttentionTest, unsettled_keys_are_counted_by_operation_and_point) {
    open_key("a");
    open_key("b");
    finish(open_key("c"), 1, "ride_created");
    struct Count {
        std::string operation;
        std::string point;
        int keys;
    };

    const auto counts = read_rows<Count>(*store, sql::count_open_by_point);

    ASSERT_EQ(counts.size(), 1);
    EXPECT_EQ(counts[0].operation, "book_ride");
    EXPECT_EQ(counts[0].point, "ride_created");
    EXPECT_EQ(counts[0].keys, 2);
}

TEST_P(AttentionTest, open_keys_are_summarised_with_those_that_the_completer_tried_thrice) {
    struct Summary {
        int open;
        std::optional<TimePoint> oldest;
        int stuck;
        int held;
    };
    const auto summary = [&] { return read_rows<Summary>(*store, sql::summarise_open_keys).at(0); };
    EXPECT_EQ(summary().open, 0);
    EXPECT_EQ(summary().oldest, std::nullopt);
    EXPECT_EQ(summary().stuck, 0);
    const auto first = now();
    const auto id = open_key("a");
    clock.advance(1min);
    open_key("b");
    finish(open_key("c"), 1, "ride_created");
    for (int i = 0; i < 2; ++i) run(sql::note_completer_failure, id, now(), now());
    EXPECT_EQ(summary().stuck, 0);
    run(sql::note_completer_failure, id, now(), now());

    EXPECT_EQ(summary().open, 2);
    EXPECT_EQ(summary().oldest, first);
    EXPECT_EQ(summary().stuck, 1);
    run(sql::hold_key, id, now(), "ann", "a reason");
    EXPECT_EQ(summary().open, 2);
    EXPECT_EQ(summary().oldest, first + 1min);
    EXPECT_EQ(summary().stuck, 0);
    EXPECT_EQ(summary().held, 1);
}

TEST_P(AttentionTest, requests_that_wait_for_a_person_are_counted_by_reason) {
    struct Count {
        std::string reason;
        int requests;
        TimePoint oldest;
    };
    const auto first = now();
    to_attention(open_key("a"), 1);
    clock.advance(1min);
    const auto decided = open_key("b");
    to_attention(decided, 1);
    to_attention(open_key("c"), 1);
    settle(decided, 1, "give-up");

    const auto counts = read_rows<Count>(*store, sql::count_attention);

    ASSERT_EQ(counts.size(), 1);
    EXPECT_EQ(counts[0].reason, "stuck");
    EXPECT_EQ(counts[0].requests, 2);
    EXPECT_EQ(counts[0].oldest, first);
}

TEST_P(AttentionTest, an_expired_key_is_found_by_its_hash_with_its_history) {
    const auto id = open_key("hash");
    const auto other = open_key("other");
    finish(id, 1, "ride_created", now());
    run(sql::insert_audit, now(), "ann", "retry", id, "");
    run(sql::insert_key_reference, id, "charge", "ch_1");
    write_now(*store, [&](Session& session) {
        change(session, sql::expire_key, id, 201, "/rides/7", now());
        change(session, sql::delete_key, id);
    });
    struct Expired {
        std::int64_t id{};
        std::string status;
        std::optional<int> response_status;
        std::optional<std::string> location;
        std::string expired_at;
        int generation{};
        std::string references;
        std::string history;
    };
    struct Account {
        std::string tenant;
        std::string account;
    };
    using Ids = std::vector<std::int64_t>;

    const auto found = read_rows<Expired>(*store, sql::show_expired, id);

    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].status, "expired");
    EXPECT_EQ(found[0].response_status, 201);
    EXPECT_EQ(found[0].location, "/rides/7");
    EXPECT_NE(found[0].history.find("ann"), std::string::npos);
    EXPECT_NE(found[0].references.find("ch_1"), std::string::npos);
    EXPECT_TRUE(read_rows<Expired>(*store, sql::show_expired, other).empty());
    EXPECT_EQ(
        read_rows<std::int64_t>(*store, sql::find_expired_ids, R"(["hash","other","none"])"),
        Ids{id}
    );
    const auto accounts = read_rows<Account>(*store, sql::list_accounts, 10);
    ASSERT_EQ(accounts.size(), 1);
    EXPECT_EQ(accounts[0].account, "account");
}

TEST_P(AttentionTest, all_of_a_key_is_shown_to_an_operator) {
    const auto id = open_key("hash");
    finish(id, 1, "ride_created", now() + 72h);
    write_now(*store, [&](Session& session) {
        for (const auto* action : {"retry", "settle happened"})
            detail::run_statement(
                session,
                sql::insert_audit,
                [](const store::Row&) {},
                now(),
                "ann",
                action,
                id,
                "seen"
            );
    });

    read_now(*store, [&](Session& session) {
        int found = 0;
        detail::run_statement(
            session,
            sql::show_key,
            [&](const store::Row& row) {
                ++found;
                EXPECT_EQ(row.columns(), 37);
                EXPECT_EQ(row.text(5), "POST");
                EXPECT_EQ(row.text(6), "/rides");
                EXPECT_EQ(row.text(9), "finished");
                EXPECT_EQ(row.integer(19), 201);
                EXPECT_TRUE(row.is_null(27));
                EXPECT_EQ(row.text(34), "[]");
                const std::string history{row.text(36)};
                EXPECT_LT(history.find("retry"), history.find("settle happened"));
            },
            id
        );
        EXPECT_EQ(found, 1);
    });
}

}  // namespace pawl::conformance
