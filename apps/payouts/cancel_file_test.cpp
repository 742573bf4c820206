#include "apps/payouts/send_file.hpp"
#include "apps/payouts/shown.hpp"
#include "apps/payouts/testing_decisions.hpp"

namespace payouts::decisions_test {

namespace {

TEST_F(DecisionsTest, a_cancelled_files_payouts_are_in_one_later_file) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    EXPECT_NE(refusal([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); }), "");  // Unsent.
    send(1);

    const CancelRequest without_b{.number = 1, .set_aside = {2, 2}};  // One payout.
    const auto first = [&](pawl::Tx& tx) {
        EXPECT_EQ(cancel_file(tx, without_b, ann).set_aside, 1);
    };
    EXPECT_EQ(refusal(first), "");
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

class CancelTest : public DecisionsTest {
protected:
    void send_file() {
        insert_payout("A");
        cut_off();
        send(1);
    }
    std::string cancel(const CancelRequest& request = {.number = 1}) {
        return refusal([&](pawl::Tx& tx) { cancel_file(tx, request, ann); });
    }
    void set_named_aside(std::int64_t id, const pawl::bank::ReadReport& read) {
        database.in_tx([&](pawl::Tx& tx) { payouts::set_named_aside(tx, id, named_payouts(read)); }
        );
    }
    std::optional<std::string> why_set_aside() {
        const auto found = list_set_aside(database.database());
        return found.empty() ? std::nullopt : std::optional{found[0].set_aside};
    }
    static Report with_item(const std::string& id) {
        auto made = report(1, {});
        made.set_aside = {{"camt.054 Ntry/Sts", "it is PDNG", id}};
        return made;
    }
};

struct OpenReportCase {
    std::string name;
    pawl::bank::ReadReport read;
    std::string refused;  // A part of the text; empty: the file is cancelled.
    bool before{};        // The report came before the file was made.
};
class OpenReportTest : public CancelTest, public ::testing::WithParamInterface<OpenReportCase> {
public:
    static std::vector<OpenReportCase> rows() {
        const ReportProblem unread{"a rule", "x", {}};
        return {
            {"payout", report(1, {line("X"), line("A")}), "report 1 names A, which file 1 has"},
            {"payout_before", report(1, {line("A")}), "names A", true},
            {"others", report(1, {line("X")}), ""},
            {"item", with_item("A"), "names A"},
            {"item_of_others", with_item("X"), ""},
            {"item_without_payout", with_item(""), "has an item without a payout"},
            {"unreadable", unread, "can't be read"},
            {"unreadable_before", unread, "", true}};
    }
};

TEST_P(OpenReportTest, a_stopped_report_that_may_be_about_the_file_forbids_it) {
    const auto& row = GetParam();
    static constexpr pawl::Statement<0> age{
        "age_reports", "UPDATE bank_reports SET fetched_at = '2020-01-01 00:00:00.000'", {}};
    send_file();
    const auto id = insert_report("x");
    if (row.before) database.in_tx([](pawl::Tx& tx) { pawl::execute(tx, age); });

    const auto why = cancel({.number = 1, .stopped_reports = {{id, named_payouts(row.read)}}});

    EXPECT_EQ(why.empty(), row.refused.empty()) << why;
    EXPECT_NE(why.find(row.refused), std::string::npos) << why;
}
INSTANTIATE_TEST_SUITE_P(
    reports,
    OpenReportTest,
    ::testing::ValuesIn(OpenReportTest::rows()),
    [](const auto& one) { return one.param.name; }
);

TEST_F(CancelTest, a_report_that_nobody_has_read_forbids_it) {
    send_file();
    const auto id = database.in_tx([](pawl::Tx& tx) {
        return store_report(tx, std::string(64, 'a'), "r.xml", "x");
    });
    EXPECT_NE(cancel().find("is not imported yet"), std::string::npos);
    database.in_tx([&](pawl::Tx& tx) {
        skip_report(tx, id, {"fetched", "r.xml", report(1, {})}, 1, ann);
        const std::vector<std::byte> none;
        const std::string hash(64, 'b');
        pawl::execute(tx, sql::insert_unread_report, hash, "l.xml", none, tx.now(), "too large");
    });
    EXPECT_NE(cancel().find("report 2 can't be read"), std::string::npos);
}

TEST_F(CancelTest, a_payout_that_a_later_report_names_or_may_name_is_in_no_other_file) {
    send_file();
    insert_payout("B");  // It was in no file.
    EXPECT_EQ(cancel(), "");

    set_named_aside(7, report(1, {line("X")}));
    EXPECT_EQ(why_set_aside(), std::nullopt);
    set_named_aside(8, report(1, {line("A")}));
    EXPECT_EQ(why_set_aside(), "report 8 names it");
    for (const auto& read :
         {pawl::bank::ReadReport{with_item("")}, pawl::bank::ReadReport{ReportProblem{}}}) {
        database.in_tx([](pawl::Tx& tx) { release_payout(tx, 1, ann); });
        set_named_aside(9, read);
        EXPECT_NE(why_set_aside().value_or("").find("report 9 may be about it"), std::string::npos);
    }
    cut_off();

    EXPECT_EQ(state("A") + " " + state("B"), "collected in_file");
}

TEST_F(CancelTest, a_cancelled_files_payouts_wait_for_the_import_of_any_report) {
    send_file();
    insert_payout("B");
    EXPECT_EQ(cancel(), "");
    const auto id = database.in_tx([](pawl::Tx& tx) {
        return store_report(tx, std::string(64, 'a'), "r.xml", "x");
    });
    cut_off();

    EXPECT_EQ(state("A") + " " + state("B"), "collected in_file");
    EXPECT_EQ(why_set_aside(), std::nullopt);
    database.in_tx([&](pawl::Tx& tx) {
        pawl::execute(tx, sql::keep_stopped, id, std::string{"a rule"}, std::string{"x"});
    });
    cut_off();
    EXPECT_EQ(state("A"), "in_file");
}

TEST_F(CancelTest, a_payout_of_a_cancelled_file_that_the_bank_has_made_is_settled_as_paid) {
    send_file();
    EXPECT_EQ(cancel(), "");
    const auto id = insert_report("x");
    const StoredReport stored{"stopped", "r.xml", report(1, {line("A")})};
    set_named_aside(id, stored.read);

    settle(id, stored);

    EXPECT_EQ(settled.lines, 1);
    EXPECT_EQ(state("A"), "paid");
    EXPECT_EQ(why_set_aside(), std::nullopt);
}

class RequestTest : public CancelTest {
protected:
    using Worker = SendFileWorker;
    // True: the request with this key is the one that sends the file.
    bool choose(std::int64_t key_id, std::int64_t number = 1) {
        const auto next = database.in_tx([&](pawl::Tx& tx) {
            return worker.choose(tx, {.key_id = key_id, .request = {number}});
        });
        return pawl::testing::point<Worker::FileFrozen>(next) != nullptr;
    }
    void give_up() {
        database.in_tx([&](pawl::Tx& tx) { (void)worker.abandon(tx, {1, name, ""}, {}); });
    }
    auto deliver() {
        pawl::testing::FakeCall call;
        return worker.deliver(call.plain(), {1, name, std::string(64, 'a')});
    }

    std::string name = "payouts-00000001.xml";
    pawl::Sftp sftp{
        {.host = "h",
         .user = "u",
         .host_keys = {"SHA256:" + std::string(43, 'A')},
         .password_file = "p"}};
    Worker worker{database.database(), sftp, "in", ""};
};

TEST_F(RequestTest, the_first_request_of_a_file_is_the_only_one_that_sends_it) {
    insert_payout("A");
    cut_off();

    EXPECT_TRUE(choose(4));
    EXPECT_FALSE(choose(6));
    EXPECT_TRUE(choose(4));
}

TEST_F(RequestTest, a_file_that_is_cancelled_or_given_up_is_not_uploaded) {
    insert_payout("A");
    cut_off();
    give_up();
    EXPECT_NE(pawl::testing::result<pawl::Stuck>(deliver()), nullptr);
    EXPECT_EQ(cancel(), "");
    EXPECT_NE(pawl::testing::result<pawl::Stuck>(deliver()), nullptr);
}

TEST_F(RequestTest, a_file_that_another_request_has_sent_is_neither_uploaded_nor_given_up) {
    send_file();

    const auto ended = deliver();
    give_up();

    const auto* delivered = pawl::testing::result<Worker::Delivered>(ended);
    ASSERT_NE(delivered, nullptr);
    EXPECT_TRUE(delivered->earlier);
    EXPECT_EQ(list_files(database.database()).at(0).given_up_at, std::nullopt);
}

TEST_F(RequestTest, a_file_that_is_given_up_is_not_sent_but_the_next_one_is) {
    insert_payout("A");
    cut_off();
    insert_payout("B");
    cut_off();
    EXPECT_FALSE(choose(5, 2));  // Not before the first.

    give_up();

    EXPECT_FALSE(choose(4));
    EXPECT_EQ(database.staged("send_file"), 2);
    EXPECT_TRUE(choose(5, 2));
    EXPECT_EQ(cancel(), "");
    EXPECT_EQ(state("A"), "collected");
}

TEST_F(RequestTest, of_a_given_up_file_a_person_may_move_what_no_report_has_named) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    give_up();
    settle(insert_report("x"), {"stopped", "r.xml", report(1, {line("A")})});
    EXPECT_NE(cancel().find("--keep-answered"), std::string::npos);

    EXPECT_EQ(cancel({.number = 1, .keep_answered = true}), "");

    EXPECT_EQ(state("A") + " " + state("B"), "paid collected");
    cut_off();
    ASSERT_EQ(list_file_payouts(database.database(), 2).size(), 1U);
    EXPECT_EQ(list_file_payouts(database.database(), 2)[0].end_to_end_id, "B");
    EXPECT_EQ(list_file_payouts(database.database(), 1).size(), 2U);
}

TEST_F(RequestTest, of_a_sent_file_that_a_report_has_named_nobody_moves_a_payout) {
    insert_payout("B");
    send_file();
    settle(insert_report("x"), {"stopped", "r.xml", report(1, {line("A")})});

    EXPECT_NE(cancel({.number = 1, .keep_answered = true}), "");
}

}  // namespace

}  // namespace payouts::decisions_test
