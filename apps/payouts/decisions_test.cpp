// Issue 38, number 5: one item that fails a shared unit.

#include <pawl/testing.hpp>

#include "apps/payouts/cancel_file.hpp"
#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/decide_report.hpp"
#include "apps/payouts/fetch_reports.hpp"
#include "apps/payouts/send_file.hpp"
#include "apps/payouts/shown.hpp"
#include "payouts/migrations.hpp"
#include "payouts/statements.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace payouts::decisions_test {

namespace {

using pawl::bank::Report;
using pawl::bank::ReportLine;
using pawl::bank::ReportProblem;
using pawl::testing::TestDatabase;

const Decider ann{.by = "ann", .reason = "the bank says so"};

class DecisionsTest : public ::testing::Test {
protected:
    static Settings settings() {
        Settings made;
        made.iso20022 =
            Settings::Iso20022{"Rocket Rides", "DE89370400440532013000", {}, "EUR", {}, {}};
        return made;
    }
    // As a release without its checks accepted it.
    void insert_payout(const std::string& id, const std::string& name = "Jane") {
        database.in_tx([&](pawl::Tx& tx) {
            pawl::execute(
                tx,
                sql::insert_payout,
                tx.now(),
                std::string{"payouts"},
                std::string{"shop"},
                ++key,
                id,
                std::int64_t{1'000},
                std::string{"EUR"},
                name,
                std::string{"GB29NWBK60161331926819"},
                std::optional<std::string>{},
                std::string{}
            );
        });
    }
    void cut_off() {
        database.in_tx([&](pawl::Tx& tx) { CutOffWorker{format}.work(tx, pawl::Job<CutOff>{}); });
    }
    void send(std::int64_t number) {
        database.in_tx([&](pawl::Tx& tx) {
            pawl::execute(tx, sql::keep_sent, number, tx.now());
            pawl::execute(tx, sql::mark_sent, number);
        });
    }
    std::int64_t insert_report(const std::string& bytes) {
        return database.in_tx([&](pawl::Tx& tx) {
            const auto hash = pawl::bank::sha256(bytes);
            pawl::execute(tx, sql::insert_report, hash, "r.xml", bytes_of(bytes), tx.now());
            const auto id = pawl::query_one<std::int64_t>(tx, sql::find_report_of_hash, hash);
            pawl::execute(tx, sql::keep_stopped, id, std::string{"a rule"}, std::string{"x"});
            return id;
        });
    }
    static Report report(std::int64_t number, std::vector<ReportLine> lines) {
        return {"bank", "M" + std::to_string(number), {{"bank", number}}, std::move(lines)};
    }
    static ReportLine line(const std::string& id, std::int64_t amount = 1'000) {
        return {ReportLine::What::paid, "ref:" + id, id, amount, "EUR", ""};
    }
    std::string state(const std::string& id) {
        struct Row {
            std::int64_t id{};
            std::string state;
            std::int64_t amount{};
            std::string currency;
        };
        return database.in_tx([&](pawl::Tx& tx) {
            return pawl::query_one<Row>(tx, sql::find_payout_of_end_to_end, id).state;
        });
    }
    // "": the act is done.
    std::string refusal(const std::function<void(pawl::Tx&)>& act) {
        try {
            database.in_tx(act);
            return "";
        } catch (const Refused& refused) {
            return refused.why;
        }
    }
    std::int64_t next(const std::string& series = "bank") {
        return database.in_tx([&](pawl::Tx& tx) {
            return next_number(tx, {.name = series, .first = 1});
        });
    }
    void settle(std::int64_t id, const StoredReport& stored, const LinesByHand& by_hand = {}) {
        database.in_tx([&](pawl::Tx& tx) {
            settled = settle_report(tx, id, stored, by_hand, 1, ann);
        });
    }

    TestDatabase database{"payouts", sql::migrations::all};
    BankFormat format{settings()};
    std::int64_t key{};
    SettledReport settled;
};

TEST_F(DecisionsTest, a_payout_that_no_file_can_have_is_set_aside_and_the_others_go) {
    insert_payout("A");
    insert_payout("B", "Jane \uffff Doe");
    insert_payout("C");

    cut_off();

    EXPECT_EQ(state("A") + state("C"), "in_filein_file");
    const auto aside = list_set_aside(database.database());
    ASSERT_EQ(aside.size(), 1U);
    EXPECT_EQ(aside[0].end_to_end_id, "B");
    EXPECT_NE(aside[0].set_aside.find("creditor_name has U+FFFF"), std::string::npos);
    EXPECT_EQ(list_files(database.database()).at(0).payouts, 2);
}

TEST_F(DecisionsTest, payouts_that_are_all_set_aside_use_no_number) {
    insert_payout("A", "\uffff");
    cut_off();
    insert_payout("B");
    cut_off();

    ASSERT_EQ(list_files(database.database()).size(), 1U);
    EXPECT_EQ(list_files(database.database())[0].number, 1);
}

TEST_F(DecisionsTest, a_payout_that_is_set_aside_is_released_or_refused_once) {
    insert_payout("A", "\uffff");
    insert_payout("B", "\uffff");
    cut_off();

    EXPECT_EQ(refusal([](pawl::Tx& tx) { release_payout(tx, 1, ann); }), "");
    EXPECT_EQ(refusal([](pawl::Tx& tx) { refuse_payout(tx, 2, ann); }), "");
    EXPECT_EQ(
        refusal([](pawl::Tx& tx) { refuse_payout(tx, 2, ann); }), "payout 2 is not set aside"
    );

    EXPECT_TRUE(list_set_aside(database.database()).empty());
    EXPECT_EQ(state("A") + " " + state("B"), "collected returned");
}

TEST_F(DecisionsTest, a_cancelled_files_payouts_are_in_one_later_file) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    EXPECT_NE(refusal([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); }), "");  // Unsent.
    send(1);

    const CancelRequest without_b{.number = 1, .set_aside = {2}};
    EXPECT_EQ(refusal([&](pawl::Tx& tx) { cancel_file(tx, without_b, ann); }), "");
    EXPECT_NE(refusal([&](pawl::Tx& tx) { cancel_file(tx, without_b, ann); }), "");  // Again.
    cut_off();

    const auto files = list_files(database.database());
    ASSERT_EQ(files.size(), 2U);
    EXPECT_TRUE(files[0].cancelled_at);
    EXPECT_EQ(list_file_payouts(database.database(), 1).size(), 2U);  // By record.
    ASSERT_EQ(list_file_payouts(database.database(), 2).size(), 1U);
    EXPECT_EQ(list_file_payouts(database.database(), 2)[0].end_to_end_id, "A");
    EXPECT_EQ(state("B"), "collected");
}

TEST_F(DecisionsTest, a_file_that_a_report_has_answered_is_not_cancelled) {
    insert_payout("A");
    cut_off();
    send(1);
    settle(insert_report("x"), {"stopped", "r.xml", report(1, {line("A")})});

    const auto why = refusal([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); });

    EXPECT_NE(why.find("the bank has accepted it"), std::string::npos) << why;
}

TEST_F(DecisionsTest, a_file_that_is_given_up_is_not_sent_and_may_be_cancelled) {
    insert_payout("A");
    cut_off();
    const pawl::Sftp sftp{
        {.host = "h",
         .user = "u",
         .host_keys = {"SHA256:" + std::string(43, 'A')},
         .password_file = "p"}};
    SendFileWorker worker{database.database(), sftp, "in", ""};
    database.in_tx([&](pawl::Tx& tx) {
        (void)worker.abandon(tx, {1, "payouts-00000001.xml", ""}, {});
    });

    const auto next = database.in_tx([&](pawl::Tx& tx) {
        return worker.choose(tx, SendFileWorker::Started{.request = {1}});
    });
    EXPECT_EQ(pawl::testing::point<SendFileWorker::FileFrozen>(next), nullptr);
    EXPECT_EQ(refusal([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); }), "");
    EXPECT_EQ(state("A"), "collected");
}

TEST_F(DecisionsTest, a_settled_report_has_the_effect_of_its_right_lines) {
    insert_payout("A");
    insert_payout("B");
    cut_off();

    settle(
        insert_report("x"),
        {"stopped", "r.xml", report(1, {line("A"), line("B", 5), line("STRANGER")})}
    );

    EXPECT_EQ(settled.lines, 1);
    ASSERT_EQ(settled.left_out.size(), 2U);
    EXPECT_EQ(state("A") + " " + state("B"), "paid in_file");
    EXPECT_EQ(next(), 2);
}

TEST_F(DecisionsTest, a_report_that_cannot_be_read_is_settled_by_hand) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    const StoredReport stored{"stopped", "r.xml", ReportProblem{"a rule", "x", {{"bank", 1}}}};
    const auto id = insert_report("x");

    EXPECT_THROW(settle(id, stored), Refused);
    EXPECT_THROW(settle(id, stored, {.paid = {"STRANGER"}}), Refused);
    EXPECT_THROW(settle(id, stored, {.returned = {"B"}}), Refused);
    settle(id, stored, {.paid = {"A"}, .returned = {"B=AC04"}});
    EXPECT_THROW(settle(id, stored, {.paid = {"A"}}), Refused);  // Once.

    EXPECT_EQ(state("A") + " " + state("B"), "paid returned");
    EXPECT_EQ(next(), 2);
}

TEST_F(DecisionsTest, a_skipped_number_leaves_no_gap_and_its_report_may_still_come) {
    const auto skip = [](std::int64_t number) {
        return
            [number](pawl::Tx& tx) { skip_missing(tx, {.name = "bank", .first = 1}, number, ann); };
    };
    EXPECT_EQ(refusal(skip(2)), "");  // 1 is missing still.
    EXPECT_EQ(next(), 1);
    EXPECT_EQ(refusal(skip(1)), "");
    EXPECT_EQ(next(), 3);
    EXPECT_NE(refusal(skip(1)), "");

    const auto end = [&](std::int64_t number) {
        database.in_tx([&](pawl::Tx& tx) { end_number(tx, {.name = "bank", .first = 1}, number); });
    };
    EXPECT_NO_THROW(end(2));
    EXPECT_THROW(end(2), Stopped);
    EXPECT_THROW(end(4), Stopped);
    EXPECT_NO_THROW(end(3));
    EXPECT_EQ(next(), 4);
}

// The statements by which it finds work are those of this release.
TEST_F(DecisionsTest, a_server_of_the_release_before_leaves_alone_what_is_decided) {
    insert_payout("A");
    cut_off();
    const auto id = insert_report("x");
    const StoredReport stored{"stopped", "r.xml", ReportProblem{"a rule", "x", {{"bank", 1}}}};
    database.in_tx([&](pawl::Tx& tx) {
        skip_report(tx, id, stored, 1, ann);
        pawl::execute(tx, sql::give_up_file, std::int64_t{1}, tx.now());
        cancel_file(tx, {.number = 1}, ann);
    });

    database.in_tx([&](pawl::Tx& tx) {
        EXPECT_TRUE(pawl::query<std::int64_t>(tx, sql::list_open_reports).empty());
        EXPECT_FALSE(pawl::query_maybe<std::int64_t>(tx, sql::find_first_unsent));
        EXPECT_EQ(
            pawl::query_one<std::int64_t>(tx, sql::find_series_number, std::string{"bank"}), 2
        );
        EXPECT_EQ(pawl::query_one<std::string>(tx, sql::find_report_state, id), "imported");
    });
}

TEST_F(DecisionsTest, a_decision_is_in_the_audit) {
    const auto id = insert_report("x");
    const StoredReport stored{"stopped", "r.xml", ReportProblem{"a rule", "x", {}}};
    database.in_tx([&](pawl::Tx& tx) { skip_report(tx, id, stored, 1, ann); });
    static constexpr pawl::Statement<0> list{
        "list_audits", "SELECT actor || ' ' || action || ' ' || detail FROM pawl_audit_log", {}};

    const auto found =
        database.in_tx([](pawl::Tx& tx) { return pawl::query_one<std::string>(tx, list); });

    EXPECT_EQ(found, "ann skipped report 1: the bank says so");
    const auto shown = show_report(database.database(), id);
    EXPECT_EQ(shown->report.state, "skipped");
    EXPECT_EQ(shown->report.found, "a rule: x");
}

TEST_F(DecisionsTest, a_name_that_no_database_takes_gets_one_that_is_still_known) {
    EXPECT_EQ(stored_name("report 1.xml"), "report 1.xml");
    EXPECT_EQ(stored_name("Übersicht.xml"), "Übersicht.xml");
    EXPECT_EQ(stored_name("a\xff%.xml"), "a%FF%25.xml");
    EXPECT_EQ(stored_name("a\n.xml"), "a%0A.xml");
    EXPECT_LE(stored_name(std::string(4'000, 'x')).size(), 250U);
}

}  // namespace

}  // namespace payouts::decisions_test
