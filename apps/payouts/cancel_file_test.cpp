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

}  // namespace

}  // namespace payouts::decisions_test
