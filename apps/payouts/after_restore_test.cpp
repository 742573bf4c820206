#include "apps/payouts/after_restore.hpp"

#include "apps/payouts/send_file.hpp"
#include "apps/payouts/shown.hpp"
#include "apps/payouts/testing_decisions.hpp"

#include <stdexcept>

namespace payouts::decisions_test {

namespace {

constexpr pawl::Statement<0> open_epoch{
    "open_epoch",
    "INSERT INTO pawl_epochs (epoch, opened_at, lost_since, keys_until, last_key_id, opened_by, "
    "detail) SELECT COALESCE(max(epoch), 1) + 1, '2026-11-29T00:00:00.000Z', "
    "'2026-11-28T00:00:00.000Z', '2026-12-02T00:00:00.000Z', 0, 'ann', 'x' FROM pawl_epochs",
    {}};

struct FileBytes {
    std::vector<std::byte> bytes;
    std::optional<std::string> sent_at;
    std::optional<std::string> given_up_at;
    std::optional<std::string> cancelled_at;
};

class AfterRestoreTest : public DecisionsTest {
protected:
    // What the lost database sent: file `number`, with these payouts of 10.00.
    SentFile sent(std::int64_t number, const std::vector<std::string>& ids) const {
        std::vector<Payment> payments;
        for (const auto& id : ids)
            payments.push_back(
                {.end_to_end_id = id,
                 .amount = 1'000,
                 .currency = "EUR",
                 .creditor_name = "Jane",
                 .creditor_account = "GB29NWBK60161331926819",
                 .routing_number = {},
                 .reference = ""}
            );
        return read_sent_file(
            format,
            format.file_name(number),
            format.write({.number = number, .number_of_day = 1}, payments)
        );
    }
    void restore() {
        database.in_tx([](pawl::Tx& tx) { pawl::execute(tx, open_epoch); });
    }
    AnsweredRestore answer(const std::vector<SentFile>& files) {
        return database.in_tx([&](pawl::Tx& tx) { return answer_restore(tx, format, files, ann); });
    }
    std::size_t files() { return list_files(database.database()).size(); }
};

TEST_F(AfterRestoreTest, no_file_is_made_or_sent_before_the_answer) {
    insert_payout("A");
    cut_off();
    insert_payout("B");
    const auto jobs = database.jobs<SendFile>().size();
    restore();

    cut_off();

    EXPECT_EQ(files(), 1U);
    EXPECT_EQ(database.jobs<SendFile>().size(), jobs);
    EXPECT_EQ(answer({}).next_number, 2);
    cut_off();
    EXPECT_EQ(files(), 2U);
}

TEST_F(AfterRestoreTest, what_the_bank_has_is_in_no_other_file) {
    insert_payout("A");
    insert_payout("B");
    restore();

    const auto done = answer({sent(7, {"A", "LOST"})});

    EXPECT_EQ(
        (std::vector{done.files, done.payouts, done.found, done.set_aside, done.next_number}),
        (std::vector<std::int64_t>{1, 2, 1, 0, 8})
    );
    insert_payout("LOST");  // Its request is repeated.
    cut_off();
    EXPECT_EQ(state("A"), "sent");
    EXPECT_EQ(state("LOST"), "sent");
    const auto made = list_file_payouts(database.database(), 8);
    ASSERT_EQ(made.size(), 1U);
    EXPECT_EQ(made[0].end_to_end_id, "B");
    EXPECT_EQ(list_file_payouts(database.database(), 7).size(), 2U);
}

TEST_F(AfterRestoreTest, another_amount_is_for_a_person) {
    restore();
    auto file = sent(7, {"A"});
    file.payouts[0].amount = 999;
    answer({file});
    insert_payout("A");

    cut_off();

    EXPECT_EQ(state("A"), "collected");
    ASSERT_EQ(list_set_aside(database.database()).size(), 1U);
    EXPECT_NE(
        list_set_aside(database.database())[0].set_aside.find("another amount"), std::string::npos
    );
    database.in_tx([](pawl::Tx& tx) { refuse_payout(tx, 1, ann); });
    cut_off();
    EXPECT_EQ(state("A"), "returned");
}

TEST_F(AfterRestoreTest, an_unsent_file_of_the_backup_may_have_been_sent) {
    insert_payout("A");
    cut_off();
    restore();
    const auto bytes = database.in_tx([](pawl::Tx& tx) {
        return pawl::query_one<FileBytes>(tx, sql::find_file_bytes, std::int64_t{1}).bytes;
    });

    answer({read_sent_file(format, format.file_name(1), text_of(bytes))});

    EXPECT_EQ(state("A"), "sent");
    EXPECT_TRUE(list_files(database.database())[0].sent_at);
}

TEST_F(AfterRestoreTest, another_file_of_the_backup_under_the_number_is_for_a_person) {
    insert_payout("A");
    cut_off();
    restore();

    const auto why =
        refusal([&](pawl::Tx& tx) { answer_restore(tx, format, {sent(1, {"B"})}, ann); });

    EXPECT_NE(why.find("another payouts-00000001.xml"), std::string::npos) << why;
}

// In the lost time it was given up and cancelled, and its payouts were made again.
TEST_F(AfterRestoreTest, an_unsent_file_of_the_backup_may_be_overtaken) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    restore();

    EXPECT_EQ(answer({sent(2, {"A"})}).cancelled, 1);
    cut_off();

    const auto made = list_files(database.database());
    ASSERT_EQ(made.size(), 3U);
    EXPECT_TRUE(made[0].cancelled_at);
    EXPECT_EQ(state("A"), "sent");
    const auto third = list_file_payouts(database.database(), 3);
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0].end_to_end_id, "B");
}

TEST_F(AfterRestoreTest, a_lost_file_that_the_bank_has_refused_is_made_again) {
    insert_payout("A");
    restore();
    answer({sent(7, {"A"})});

    database.in_tx([](pawl::Tx& tx) { cancel_file(tx, {.number = 7}, ann); });
    cut_off();

    ASSERT_EQ(list_file_payouts(database.database(), 8).size(), 1U);
    EXPECT_EQ(state("A"), "in_file");
}

TEST_F(AfterRestoreTest, files_may_follow_and_come_again) {
    insert_payout("A");
    insert_payout("B");
    restore();
    answer({sent(1, {"A"})});

    EXPECT_EQ(answer({sent(1, {"A"}), sent(2, {"B"})}).found, 1);
    EXPECT_EQ(state("B"), "sent");
    restore();
    cut_off();
    EXPECT_EQ(files(), 2U);
}

TEST_F(AfterRestoreTest, a_database_that_was_not_restored_has_no_answer) {
    EXPECT_NE(
        refusal([&](pawl::Tx& tx) { answer_restore(tx, format, {}, ann); }).find("never restored"),
        std::string::npos
    );
}

struct SentFileCase {
    std::string name;
    std::string file;
    std::function<std::string(std::string)> change;
    std::string wrong;  // A part of the text.
};
class SentFileTest : public AfterRestoreTest, public ::testing::WithParamInterface<SentFileCase> {
public:
    static std::string without(std::string text, const std::string& part) {
        return text.replace(text.find(part), part.size(), "");
    }
    static std::vector<SentFileCase> rows() {
        const auto same = [](std::string text) { return text; };
        return {
            {"name", "file.xml", same, "is named as payouts-00000042.xml"},
            {"number", "payouts-7.xml", same, "is named as"},
            {"nacha", "payouts-00000007.ach", same, "is named as"},
            {"empty", "payouts-00000007.xml", [](const auto&) { return ""; }, "control sums"},
            {"cut",
             "payouts-00000007.xml",
             [](std::string text) { return text.substr(0, text.size() / 2); },
             ""},
            {"amount",
             "payouts-00000007.xml",
             [](std::string text) { return without(text, "<InstdAmt Ccy=\"EUR\">10.00"); },
             "control sums"},
            {"sum",
             "payouts-00000007.xml",
             [](std::string text) { return without(text, "0</InstdAmt>"); },
             "control sums"}};
    }
};
TEST_P(SentFileTest, is_refused) {
    const auto bytes = sent(7, {"A", "B"}).bytes;
    try {
        read_sent_file(format, GetParam().file, GetParam().change(bytes));
        ADD_FAILURE() << "it is taken";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string{error.what()}.find(GetParam().wrong), std::string::npos)
            << error.what();
    }
}
INSTANTIATE_TEST_SUITE_P(
    Each,
    SentFileTest,
    ::testing::ValuesIn(SentFileTest::rows()),
    [](const auto& row) { return row.param.name; }
);

TEST(SentFile, one_of_nacha_is_read_back) {
    Settings settings;
    settings.nacha = Settings::Nacha{
        .destination = "091000019",
        .destination_name = "The bank",
        .origin = "1234567890",
        .origin_name = "Rocket Rides",
        .company_name = "Rocket Rides",
        .company_id = "1234567890",
        .description = "PAYOUT",
        .transliterate = {}};
    const BankFormat format{settings};
    const Payment payment{
        .end_to_end_id = "0123456789ABCDE",
        .amount = 1'234,
        .currency = "USD",
        .creditor_name = "Jane",
        .creditor_account = "1",
        .routing_number = "021000021",
        .reference = ""};

    const auto file = read_sent_file(
        format,
        "/tmp/payouts-00000042.ach",
        format.write({.number = 42, .number_of_day = 3}, std::vector(11, payment))
    );

    EXPECT_EQ(file.number, 42);
    EXPECT_EQ(file.amount, 11 * 1'234);
    ASSERT_EQ(file.payouts.size(), 11U);
    EXPECT_EQ(file.payouts[10].end_to_end_id, "0123456789ABCDE");
    EXPECT_EQ(file.payouts[10].amount, 1'234);
}

}  // namespace

}  // namespace payouts::decisions_test
