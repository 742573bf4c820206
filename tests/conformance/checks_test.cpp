#include "store/checks.hpp"

#include "src/cli/check.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

// Each invariant of `check`, on rows that keep it and on a row that breaks it.
namespace pawl::conformance {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The statement breaks one row of the healthy database.
struct Break {
    std::string_view invariant;
    Sql statement;
};

constexpr Break breaks[] = {
    {"attention_without_key", on_all("break", "UPDATE pawl_attention SET attempt = attempt + 1")},
    {"attention_without_key",
     on_all(
         "break", "UPDATE pawl_idempotency_keys SET status = 'open' WHERE status = 'attention'"
     )},
    {"call_marks",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET call_key = NULL, calling = true WHERE status = 'open'"
     )},
    {"call_marks",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET call_key = NULL, called_at = NULL WHERE status = 'open'"
     )},
    {"call_marks",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET called_at = NULL, calling = true WHERE status = 'open'"
     )},
    {"calls_not_made", on_all("break", "UPDATE pawl_calls_not_made SET generation = 5")},
    {"calls_not_made", on_all("break", "UPDATE pawl_calls_not_made SET key_id = 999")},
    {"done_jobs", on_all("break", "UPDATE pawl_inbox SET jid = 'ready'")},
    {"expiries",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET expires_at = created_at WHERE status = 'finished'"
     )},
    {"finished_keys",
     on_all(
         "break", "UPDATE pawl_idempotency_keys SET response_body = NULL WHERE status = 'finished'"
     )},
    {"finished_keys",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET lease_until = created_at WHERE status = 'finished'"
     )},
    {"inquiries", on_all("break", "UPDATE pawl_inquiries SET key_id = 999")},
    {"inquiries", on_all("break", "UPDATE pawl_inquiries SET generation = 5")},
    {"job_ids", on_all("break", "UPDATE pawl_dead_jobs SET jid = 'ready'")},
    {"job_ids", on_all("break", "UPDATE pawl_staged_jobs SET jid = 'ready'")},
    {"job_leases",
     on_all(
         "break",
         "UPDATE pawl_jobs SET lease_until = '2999-01-01T00:00:00.000Z' WHERE state = 'running'"
     )},
    {"job_states",
     on_all("break", "UPDATE pawl_jobs SET lease_until = NULL WHERE state = 'running'")},
    {"job_states", on_all("break", "UPDATE pawl_jobs SET failures = 1 WHERE jid = 'ready'")},
    // SQLite has a condition on these columns.
    {"job_states", {"break", {}, "UPDATE pawl_jobs SET state = 'done' WHERE jid = 'ready'"}},
    {"tombstones", {"break", {}, "UPDATE pawl_key_registry SET state = 'x' WHERE hash = 'open'"}},
    {"unfinished_keys",
     {"break", {}, "UPDATE pawl_idempotency_keys SET status = 'x' WHERE status = 'open'"}},
    {"key_leases",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET lease_until = '2999-01-01T00:00:00.000Z' WHERE status = "
         "'open'"
     )},
    {"key_without_attention", on_all("break", "DELETE FROM pawl_attention")},
    {"live_registry",
     on_all("break", "DELETE FROM pawl_idempotency_keys WHERE status = 'finished'")},
    {"registry", on_all("break", "DELETE FROM pawl_key_registry WHERE hash = 'finished'")},
    {"registry",
     on_all("break", "UPDATE pawl_idempotency_keys SET hash = 'other' WHERE status = 'finished'")},
    {"registry",
     on_all(
         "break",
         "UPDATE pawl_key_registry SET state = 'expired', outcome = 201, expired_at = "
         "'2027-01-15T08:00:00.000Z' WHERE hash = 'open'"
     )},
    {"secret_versions",
     on_all(
         "break", "UPDATE pawl_idempotency_keys SET secret_version = 9 WHERE status = 'finished'"
     )},
    {"settlement_audits", on_all("break", "DELETE FROM pawl_audit_log")},
    {"settlements", on_all("break", "UPDATE pawl_attention SET settled_by = NULL")},
    {"staged_claims",
     on_all("break", "UPDATE pawl_staged_jobs SET claimed_until = '2999-01-01T00:00:00.000Z'")},
    {"tombstones",
     on_all("break", "UPDATE pawl_key_registry SET outcome = NULL WHERE state = 'expired'")},
    {"tombstones",
     on_all("break", "UPDATE pawl_key_registry SET outcome = 201 WHERE hash = 'open'")},
    {"unfinished_keys",
     on_all(
         "break", "UPDATE pawl_idempotency_keys SET response_status = 201 WHERE status = 'open'"
     )},
    {"unfinished_keys",
     on_all(
         "break",
         "UPDATE pawl_idempotency_keys SET recovery_point = 'finished' WHERE status = 'open'"
     )},
};

class ChecksTest : public KeyTest {
protected:
    // One row of each kind.
    void make_rows() {
        run(sql::insert_secret, 1, "secret", now());
        const auto open = open_key("open");
        run(sql::note_inquiry, open, 0, "ride_created", now(), "undecided", "why");
        finish(open_key("finished"), 1, "ride_created", now() + 72h);
        const auto again = open_key("made anew");
        run(sql::call_anew, again, 1, "ride_created", 0, "call key 2", now(), false, "bank", now());
        run(sql::insert_call_not_made, again, 0, "ride_created", "bank", "refused", "why", now());
        finish(again, 1, "ride_created");
        run(sql::clear_calling, open_key("not made"), 1, "ride_created", "not sent", now());
        keep_alone(open_key("kept alone"));
        const auto doubt = open_key("doubt");
        to_attention(doubt, 1);
        run(sql::request_settlement, doubt, 1, "give-up", none, none, "ann", "why", now());
        run(sql::insert_audit, now(), "ann", "settle give-up", doubt, "");
        const auto expired = open_key("expired");
        finish(expired, 1, "ride_created", now());
        run(sql::expire_key, expired, 201, "/rides/1", now());
        run(sql::delete_key, expired);
        make_jobs();
    }
    void make_jobs() {
        for (const auto* jid : {"running", "dead", "ready"}) stage(sql::insert_job, jid);
        const auto claimed = claim_two();
        run(sql::insert_dead_job, claimed.at(1), 1, "no", now(), "no", "now");
        run(sql::delete_job, claimed.at(1), 1);
        stage(sql::insert_staged_job, "staged");
        run(sql::insert_done, "done", now());
    }
    void stage(const Sql& statement, const std::string& jid) {
        run(statement,
            jid,
            "default",
            "send_receipt",
            "{}",
            now(),
            std::optional<std::int64_t>{},
            now());
    }
    std::vector<std::int64_t> claim_two() {
        return write_now(*store, [&](Session& session) {
            std::vector<std::int64_t> ids;
            detail::run_statement(
                session,
                sql::claim_jobs,
                [&](const store::Row& row) { ids.push_back(row.integer(0)); },
                "default",
                now(),
                now() + 1min,
                2,
                now() - 1h,
                std::optional<int>{},
                std::optional<int>{},
                "[]",
                server,
                1
            );
            return ids;
        });
    }
    std::vector<cli::Violation> violations(int max = 1'000) {
        return cli::find_violations(*store, {.max = max, .job_lease = 1min});
    }
    std::vector<std::string> broken() {
        std::vector<std::string> names;
        for (const auto& one : violations()) names.emplace_back(one.invariant);
        return names;
    }

    static constexpr std::optional<std::string> none{};
};
PAWL_ON_EACH_STORE(ChecksTest);

}  // namespace

TEST_P(ChecksTest, an_empty_database_breaks_no_invariant) {
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_P(ChecksTest, rows_as_servers_write_them_break_no_invariant) {
    make_rows();

    EXPECT_THAT(broken(), IsEmpty());
}

TEST_P(ChecksTest, each_invariant_finds_a_row_that_breaks_it) {
    make_rows();
    for (const auto& [invariant, statement] : breaks) {
        if (store->text_of(statement).empty()) continue;
        // Rolled back afterwards, so that each break meets healthy rows.
        EXPECT_ANY_THROW(write_now(
            *store,
            [&, name = invariant, &text = statement](Session& session) {
                EXPECT_GE(change(session, text), 1) << name << ": " << text.sqlite;
                const auto found =
                    cli::find_violations_in(session, {.max = 1'000, .job_lease = 1min});
                std::vector<std::string> names;
                for (const auto& one : found) names.emplace_back(one.invariant);
                EXPECT_THAT(names, Contains(name)) << text.sqlite;
                throw std::runtime_error{"roll back"};
            }
        ));
    }
    EXPECT_THAT(broken(), IsEmpty());
}

TEST(Breaks, each_invariant_has_a_row_that_breaks_it) {
    std::set<std::string_view> broken;
    for (const auto& one : breaks) broken.insert(one.invariant);

    for (const auto* statement : sql::checks::all)
        EXPECT_TRUE(broken.contains(statement->name)) << statement->name;
}

TEST_P(ChecksTest, a_violation_has_examples_and_no_more_rows_than_asked_for) {
    for (int i = 0; i < 7; ++i) open_key("key " + std::to_string(i));

    const auto found = violations(6);  // No secret of version 1 is stored.

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].invariant, "secret_versions");
    EXPECT_EQ(found[0].count, 6);
    EXPECT_EQ(found[0].examples.size(), 5U);
    EXPECT_NE(found[0].meaning, "");
}

}  // namespace pawl::conformance
