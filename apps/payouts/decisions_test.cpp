// Issue 38, number 5: one item that fails a shared unit.

#include "apps/payouts/fetch_reports.hpp"
#include "apps/payouts/shown.hpp"
#include "apps/payouts/testing_decisions.hpp"

namespace payouts::decisions_test {

namespace {

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

// A second job would run a dead letter's import again at each fetch.
TEST_F(DecisionsTest, a_report_gets_one_import_until_it_is_stopped_for_what_may_be_gone) {
    const auto id = database.in_tx([](pawl::Tx& tx) {
        const auto made = store_report(tx, std::string(64, 'a'), "r.xml", "x");
        EXPECT_EQ(store_report(tx, std::string(64, 'a'), "again.xml", "x"), made);
        stage_stopped_reports(tx);
        return made;
    });
    EXPECT_EQ(database.staged("import_report"), 1);
    for (const auto* rule : {"a total", "numbers without a gap", "unknown reference"})
        database.in_tx([&](pawl::Tx& tx) {
            pawl::execute(tx, sql::keep_stopped, id, std::string{rule}, std::string{"x"});
            stage_stopped_reports(tx, std::string_view{rule}.size());  // In place of others' ids.
        });
    EXPECT_EQ(database.staged("import_report"), 3);

    const StoredReport stored{"fetched", "r.xml", ReportProblem{"a rule", "x", {}}};
    EXPECT_EQ(refusal([&](pawl::Tx& tx) { skip_report(tx, id, stored, 1, ann); }), "");
    EXPECT_EQ(show_report(database.database(), id)->report.state, "skipped");
}

TEST_F(DecisionsTest, a_report_that_cannot_be_read_is_settled_by_hand) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    const StoredReport stored{"stopped", "r.xml", ReportProblem{"a rule", "x", {{"bank", 1}}}};
    const auto id = insert_report("x");

    EXPECT_THROW(settle(id, stored), Refused);
    EXPECT_THROW(settle(id, stored, {.paid = {"STRANGER"}}), Refused);
    settle(id, stored, {.paid = {"A"}, .returned = {"B=AC04"}});
    EXPECT_THROW(settle(id, stored, {.paid = {"A"}}), Refused);  // Once.

    EXPECT_EQ(state("A") + " " + state("B"), "paid returned");
    EXPECT_EQ(next(), 2);
}

// Issue 38.
TEST(LinesByHand, two_lines_of_one_payout_are_refused) {
    const auto problem = [](const LinesByHand& given) -> std::string {
        try {
            return std::to_string(read_lines(given).size());
        } catch (const std::invalid_argument& wrong) {
            return wrong.what();
        }
    };
    const std::string one{" are lines of one payout: give one line"};

    EXPECT_EQ(problem({.paid = {"A"}, .returned = {"B=AC04", "C=AC04"}}), "3");
    EXPECT_EQ(
        problem({.paid = {"A"}, .returned = {"A=AC04"}}), "--paid A and --returned A=AC04" + one
    );
    EXPECT_EQ(
        problem({.returned = {"A=AC01", "A=AC04"}}), "--returned A=AC01 and --returned A=AC04" + one
    );
    EXPECT_EQ(problem({.paid = {"A", "A"}}), "--paid A and --paid A" + one);
    for (const auto* text : {"B", "B="})
        EXPECT_EQ(
            problem({.returned = {text}}),
            std::string{"--returned "} + text + ": ID=REASON, such as 0123456789ABCDE=AC04"
        );
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
        database.in_tx([&](pawl::Tx& tx) {
            end_number(tx, {.name = "bank", .first = 1}, {"bank", number});
        });
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
        EXPECT_TRUE(pawl::query<std::int64_t>(tx, sql::list_stopped_reports).empty());
        EXPECT_FALSE(pawl::query_maybe<std::int64_t>(tx, sql::find_first_unsent));
        EXPECT_EQ(
            pawl::query_one<std::int64_t>(tx, sql::find_series_number, std::string{"bank"}), 2
        );
        EXPECT_EQ(pawl::query_one<std::string>(tx, sql::find_report_state, id), "imported");
    });
}

// As the import does it.
class ItemsTest : public DecisionsTest {
protected:
    std::int64_t import(Report made) {
        const auto id = insert_report(made.message_id);
        database.in_tx([&](pawl::Tx& tx) {
            insert_lines(tx, id, made);
            set_wrong_lines_aside(tx, id, made.set_aside);
            insert_items(tx, id, made.set_aside);
            mark_payouts(tx, id);
            pawl::execute(
                tx,
                sql::keep_imported,
                id,
                tx.now(),
                made.sender,
                made.message_id,
                std::ssize(made.lines),
                std::ssize(made.lines)
            );
        });
        stored = {"imported", "r.xml", std::move(made)};
        return id;
    }
    // A payout that the bank has reversed, and a fee, beside one that is paid.
    std::int64_t import_items() {
        for (const auto* id : {"A", "B"}) insert_payout(id);
        cut_off();
        send(1);
        auto made = report(1, {line("A")});
        made.set_aside = {
            {"camt.054 Ntry/RvslInd", "a reversal", "B"}, {"camt.054 Ntry/Amt", "x", ""}};
        return import(std::move(made));
    }
    std::int64_t open_items(std::int64_t id) {
        return show_report(database.database(), id)->report.set_aside;
    }

    StoredReport stored;
};

TEST_F(ItemsTest, what_is_set_aside_of_a_report_is_settled_by_hand_once) {
    const auto id = import_items();
    EXPECT_EQ(state("A") + " " + state("B"), "paid sent");
    EXPECT_EQ(open_items(id), 2);

    EXPECT_THROW(settle(id, stored), Refused);
    EXPECT_THROW(settle(id, stored, {.returned = {"A=X", "STRANGER=X"}}), Refused);
    settle(id, stored, {.returned = {"B=RVSL"}});

    EXPECT_EQ(settled.lines, 1);
    EXPECT_EQ(state("A") + " " + state("B"), "paid returned");
    EXPECT_EQ(open_items(id), 0);
    const auto shown = show_report(database.database(), id);
    EXPECT_EQ(shown->report.state, "imported");
    ASSERT_EQ(shown->set_aside.size(), 2U);
    EXPECT_EQ(shown->set_aside[0].rule, "camt.054 Ntry/RvslInd");
    EXPECT_EQ(shown->set_aside[0].decision, "settled");
    EXPECT_THROW(settle(id, stored, {.returned = {"B=RVSL"}}), Refused);
}

TEST_F(ItemsTest, what_is_set_aside_of_a_report_is_skipped_once_and_its_lines_stay) {
    const auto id = import_items();
    const auto skip = [&](pawl::Tx& tx) { skip_report(tx, id, stored, 1, ann); };

    EXPECT_EQ(refusal(skip), "");
    EXPECT_NE(refusal(skip), "");

    EXPECT_EQ(state("A") + " " + state("B"), "paid sent");
    EXPECT_EQ(show_report(database.database(), id)->set_aside[1].decision, "skipped");
}

TEST_F(ItemsTest, a_file_whose_payout_is_named_by_an_item_is_not_cancelled) {
    insert_payout("A");
    cut_off();
    send(1);
    auto made = report(1, {});
    made.set_aside = {{"camt.054 Ntry/Sts", "it is PDNG", "A"}};
    const auto id = import(std::move(made));

    const auto cancel = [](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); };
    const auto why = refusal(cancel);

    EXPECT_NE(why.find("names A, which file 1 has"), std::string::npos) << why;
    // But a person decides about the item.
    database.in_tx([&](pawl::Tx& tx) { skip_report(tx, id, stored, 1, ann); });
    EXPECT_EQ(refusal(cancel), "");
}

TEST_F(ItemsTest, a_payment_of_a_payout_that_a_person_has_refused_is_an_item_that_settles_it) {
    insert_payout("A");
    cut_off();
    send(1);
    const auto refuse = [](pawl::Tx& tx) {
        cancel_file(tx, {.number = 1, .set_aside = {1}}, ann);
        refuse_payout(tx, 1, ann);
    };
    EXPECT_EQ(refusal(refuse), "");

    const auto id = import(report(1, {line("A")}));

    EXPECT_EQ(state("A"), "returned");
    EXPECT_EQ(
        show_report(database.database(), id)->set_aside.at(0).rule,
        "payout that a person has refused"
    );
    EXPECT_THROW(settle(id, stored, {.returned = {"A=X"}}), Refused);  // It changes nothing.
    settle(id, stored, {.paid = {"A"}});
    EXPECT_EQ(settled.lines, 1);
    EXPECT_EQ(state("A"), "paid");
}

TEST_F(ItemsTest, a_line_by_hand_that_changes_nothing_is_refused) {
    const auto id = import_items();
    settle(id, stored, {.returned = {"B=RVSL"}});
    const StoredReport unread{"stopped", "r.xml", ReportProblem{"a rule", "x", {}}};
    const auto other = insert_report("x");

    EXPECT_THROW(settle(other, unread, {.paid = {"B"}}), Refused);  // The bank has returned it.
    EXPECT_THROW(settle(other, unread, {.returned = {"B=X", "A=X"}}), Refused);
    EXPECT_EQ(state("A") + " " + state("B"), "paid returned");
    settle(other, unread, {.returned = {"A=X"}});
    EXPECT_EQ(state("A"), "returned");
}

TEST_F(ItemsTest, a_line_over_another_amount_or_said_twice_is_set_aside_and_the_others_count) {
    for (const auto* id : {"A", "B", "C"}) insert_payout(id);
    cut_off();
    send(1);
    auto twice = line("C");
    twice.key += " again";

    const auto id = import(report(1, {line("A"), line("B", 999), line("C"), twice}));

    EXPECT_EQ(state("A") + " " + state("B") + " " + state("C"), "paid sent sent");
    const auto shown = show_report(database.database(), id);
    EXPECT_EQ(shown->lines.size(), 1U);
    ASSERT_EQ(shown->set_aside.size(), 3U);
    EXPECT_EQ(shown->set_aside[0].rule, "amount of the payout");
    EXPECT_EQ(shown->set_aside[1].rule, "one line for each payout");
    EXPECT_THROW(import(report(2, {line("STRANGER")})), Stopped);
}

TEST_F(ItemsTest, a_settled_report_shows_what_it_leaves_out) {
    insert_payout("A");
    cut_off();
    auto made = report(1, {line("A")});
    made.set_aside = {{"camt.054 Ntry/Amt", "a fee", ""}};

    settle(insert_report("x"), {"stopped", "r.xml", std::move(made)});

    EXPECT_EQ(state("A"), "paid");
    ASSERT_EQ(settled.left_out.size(), 1U);
    EXPECT_EQ(settled.left_out[0].found, "a fee");
}

// "": the number of each report is accounted for, in this order.
std::string numbered(TestDatabase& database, const std::vector<pawl::bank::ReportNumber>& numbers) {
    try {
        for (const auto& one : numbers)
            database.in_tx([&](pawl::Tx& tx) { end_number(tx, series_of(one, 1), one); });
        return "";
    } catch (const Stopped& stopped) {
        return stopped.rule;
    }
}

struct Numbers {
    std::string name;
    std::vector<pawl::bank::ReportNumber> numbers;
    std::string stopped{};
    std::int64_t next{};
};

TEST(ReportNumbers, pages_share_a_number_or_have_their_own_and_the_last_one_ends_it) {
    constexpr bool more = false;
    const std::string gap{"numbers without a gap"};
    const std::vector<Numbers> rows{
        {"one number", {{"b", 1, 1, more}, {"b", 1, 2, more}, {"b", 1, 3}, {"b", 2}}, "", 3},
        {"their own", {{"b", 1, 1, more}, {"b", 2, 2, more}, {"b", 3, 3}, {"b", 4}}, "", 5},
        {"a page is missing", {{"b", 1, 1, more}, {"b", 2}}, gap, 1},
        {"a gap before a page", {{"b", 1}, {"b", 4, 2}}, gap, 2},
        {"a page that is alone", {{"b", 1}, {"b", 1}}, "each number once", 2},
        {"a copy", {{"b", 1}, {.series = "b", .number = 1, .repeated = true}, {"b", 2}}, "", 3},
        {"a copy after a gap", {{.series = "b", .number = 2, .repeated = true}}, gap, 1},
        {"a series that begins later", {{.series = "b", .number = 4, .first = 4}}, "", 5},
        {"from 0", {{.series = "b", .number = 0, .first = 0}, {"b", 1}}, "", 2}};
    for (const auto& row : rows) {
        TestDatabase database{"payouts", sql::migrations::all};
        EXPECT_EQ(numbered(database, row.numbers), row.stopped) << row.name;
        const auto next =
            database.in_tx([](pawl::Tx& tx) { return next_number(tx, {.name = "b", .first = 1}); });
        EXPECT_EQ(next, row.next) << row.name;
    }
}

// It was two thousand million statements in one transaction.
TEST(ReportNumbers, a_page_far_ahead_is_a_gap_at_once) {
    TestDatabase database{"payouts", sql::migrations::all};
    constexpr std::int64_t far = 2'000'000'000;
    try {
        database.in_tx([](pawl::Tx& tx) { end_numbers(tx, {{"b", far, far}, {"pages", far}}, 1); });
        ADD_FAILURE() << "no gap";
    } catch (const Stopped& why) {
        EXPECT_EQ(why.rule, "numbers without a gap");
    }
}

TEST(ReportNumbers, an_account_that_has_had_a_number_must_have_one) {
    TestDatabase database{"payouts", sql::migrations::all};
    EXPECT_NO_THROW(database.in_tx([](pawl::Tx& tx) { check_unnumbered(tx, "b"); }));
    EXPECT_EQ(numbered(database, {{"b", 1}}), "");
    EXPECT_THROW(database.in_tx([](pawl::Tx& tx) { check_unnumbered(tx, "b"); }), Stopped);
}

TEST_F(DecisionsTest, the_series_of_another_account_begins_where_it_is_first_seen) {
    const auto read = [&](const std::string& iban) {
        const auto made = format.read(
            "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.054.001.08'>"
            "<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>M</MsgId></GrpHdr><Ntfctn><ElctrncSeqNb>4"
            "</ElctrncSeqNb><Acct><Id><IBAN>" +
            iban + "</IBAN></Id></Acct></Ntfctn></BkToCstmrDbtCdtNtfctn></Document>"
        );
        return std::get<Report>(made).numbers.at(0).first;
    };
    EXPECT_EQ(read("DE89370400440532013000"), std::nullopt);
    EXPECT_EQ(read("GB29NWBK60161331926819"), 4);
    EXPECT_EQ(read("12345"), std::nullopt);
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

TEST_F(DecisionsTest, a_size_that_no_database_takes_is_stored_as_the_largest) {
    for (const auto size : {std::uint64_t{1} << 63, ~std::uint64_t{}})
        EXPECT_EQ(stored_size(size), INT64_MAX);
    EXPECT_EQ(stored_size(7), 7);
}

}  // namespace

}  // namespace payouts::decisions_test
