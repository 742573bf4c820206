#include "apps/payouts/after_restore.hpp"

#include "apps/payouts/send_file.hpp"
#include "apps/payouts/shown.hpp"
#include "apps/payouts/testing_decisions.hpp"

#include <utility>

namespace payouts::decisions_test {

namespace {

constexpr pawl::Statement<0> open_epoch{
    "open_epoch",
    "INSERT INTO pawl_epochs (epoch, opened_at, lost_since, keys_until, last_key_id, opened_by, "
    "detail) SELECT COALESCE(max(epoch), 1) + 1, '2100-01-01T00:00:00.000Z', "
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
    void restore() {
        database.in_tx([](pawl::Tx& tx) { pawl::execute(tx, open_epoch); });
    }
    AnsweredRestore answer(const RestoreAnswer& given) {
        return database.in_tx([&](pawl::Tx& tx) { return answer_restore(tx, format, given, ann); });
    }
    AnsweredRestore answer(const std::vector<SentFile>& files) {
        return answer({.files = files, .none = files.empty(), .release_waiting = true});
    }
    std::string why_not(const RestoreAnswer& given) {
        return refusal([&](pawl::Tx& tx) { answer_restore(tx, format, given, ann); });
    }
    std::vector<std::string> set_aside() {
        std::vector<std::string> found;
        for (const auto& one : list_set_aside(database.database()))
            found.push_back(one.end_to_end_id);
        return found;
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
    const auto done = answer(std::vector<SentFile>{});
    EXPECT_EQ(
        (std::pair{done.next_number, done.unsent}), (std::pair<std::int64_t, std::int64_t>{2, 1})
    );
    cut_off();
    EXPECT_EQ(files(), 2U);
}

TEST_F(AfterRestoreTest, what_the_bank_has_is_in_no_other_file) {
    insert_payout("A");
    insert_payout("B");
    restore();

    const auto done = answer({sent(1, {"A", "LOST"})});

    EXPECT_EQ(
        (std::vector{done.files, done.payouts, done.found, done.differ, done.next_number}),
        (std::vector<std::int64_t>{1, 2, 1, 0, 2})
    );
    insert_payout("LOST");  // Its request is repeated.
    cut_off();
    EXPECT_EQ(state("A"), "sent");
    EXPECT_EQ(state("LOST"), "sent");
    const auto made = list_file_payouts(database.database(), 2);
    ASSERT_EQ(made.size(), 1U);
    EXPECT_EQ(made[0].end_to_end_id, "B");
    EXPECT_EQ(list_file_payouts(database.database(), 1).size(), 2U);
}

// A person may have refused it in the lost time.
TEST_F(AfterRestoreTest, what_waited_in_the_backup_is_for_a_person) {
    insert_payout("A");
    restore();

    EXPECT_EQ(answer(RestoreAnswer{.none = true}).waiting, 1);
    insert_payout("NEW");
    cut_off();

    EXPECT_EQ(set_aside(), std::vector<std::string>{"A"});
    EXPECT_EQ(state("NEW"), "in_file");
    answer(RestoreAnswer{.release_waiting = true});
    cut_off();
    EXPECT_EQ(state("A"), "in_file");
}

TEST_F(AfterRestoreTest, no_payout_is_refused_before_the_answer) {
    insert_payout("A", "Jane \xef\xbf\xbf");
    cut_off();
    restore();
    const auto refuse = [](pawl::Tx& tx) { refuse_payout(tx, 1, ann); };

    EXPECT_NE(refusal(refuse).find("the bank may have payout 1"), std::string::npos);
    answer(RestoreAnswer{.none = true});
    EXPECT_EQ(refusal(refuse), "");
}

struct DifferentCase {
    std::string name;
    void (*change)(SentPayout&);
};
class DifferentTest : public AfterRestoreTest, public ::testing::WithParamInterface<DifferentCase> {
public:
    static std::vector<DifferentCase> rows() {
        return {
            {"amount", [](auto& one) { one.amount = 999; }},
            {"account", [](auto& one) { one.creditor_account = "NO9386011117947"; }}};
    }
};
TEST_P(DifferentTest, is_for_a_person) {
    restore();
    auto file = sent(1, {"A"});
    GetParam().change(file.payouts[0]);
    answer({file});
    insert_payout("A");

    cut_off();

    EXPECT_EQ(state("A"), "collected");
    EXPECT_EQ(set_aside(), std::vector<std::string>{"A"});
    database.in_tx([](pawl::Tx& tx) { refuse_payout(tx, 1, ann); });
    cut_off();
    EXPECT_EQ(state("A"), "returned");
}
INSTANTIATE_TEST_SUITE_P(
    Each,
    DifferentTest,
    ::testing::ValuesIn(DifferentTest::rows()),
    [](const auto& row) { return row.param.name; }
);

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

class SameNumberTest : public AfterRestoreTest {
protected:
    void give_up() {
        database.in_tx([](pawl::Tx& tx) {
            pawl::execute(tx, sql::give_up_file, std::int64_t{1}, tx.now());
            cancel_file(tx, {.number = 1}, ann);
        });
    }
};

// Nobody knew of the restore, so this database made a file with the bank's number.
TEST_F(SameNumberTest, another_file_is_replaced_when_it_is_given_up) {
    insert_payout("A");
    cut_off();
    restore();
    const RestoreAnswer given{.files = {sent(1, {"A", "B"})}};
    EXPECT_NE(why_not(given).find("settle its request as give-up"), std::string::npos);

    give_up();
    EXPECT_EQ(answer(given).found, 1);
    cut_off();

    EXPECT_EQ(state("A"), "sent");
    ASSERT_EQ(files(), 1U);
    EXPECT_FALSE(list_files(database.database())[0].cancelled_at);
    EXPECT_EQ(list_files(database.database())[0].payouts, 2);
}

// The bank keeps no old files, so it took ours as well.
TEST_F(SameNumberTest, beside_a_sent_file_the_payouts_of_another_are_for_a_person) {
    insert_payout("A");
    cut_off();
    send(1);
    insert_payout("B");
    restore();

    const auto done =
        answer(RestoreAnswer{.files = {sent(1, {"A", "B"})}, .release_waiting = true});
    cut_off();

    EXPECT_EQ(set_aside(), std::vector<std::string>{"B"});
    EXPECT_EQ(
        (std::pair{done.differ, done.in_other_files}), (std::pair<std::int64_t, std::int64_t>{1, 1})
    );
    database.in_tx([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); });
    answer(std::vector<SentFile>{});
    cut_off();
    EXPECT_EQ(set_aside(), (std::vector<std::string>{"A", "B"}));
}

TEST_F(SameNumberTest, a_cancelled_file_that_the_bank_has_counts_again) {
    restore();
    const auto file = sent(1, {"A"});
    answer({file});
    insert_payout("A");
    cut_off();
    database.in_tx([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); });
    EXPECT_EQ(state("A"), "collected");

    EXPECT_EQ(answer({file}).found, 1);

    EXPECT_EQ(state("A"), "sent");
    EXPECT_EQ(refusal([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); }), "");
}

// In the lost time it was given up and cancelled, and its payouts were made again.
TEST_F(AfterRestoreTest, an_unsent_file_of_the_backup_may_be_overtaken) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    restore();

    const auto done = answer(RestoreAnswer{.files = {sent(2, {"A"})}});
    EXPECT_EQ(
        (std::pair{done.cancelled, done.found}), (std::pair<std::int64_t, std::int64_t>{1, 1})
    );
    EXPECT_EQ(set_aside(), std::vector<std::string>{"B"});
    EXPECT_EQ(answer(std::vector<SentFile>{}).released, 1);
    cut_off();

    const auto made = list_files(database.database());
    ASSERT_EQ(made.size(), 3U);
    EXPECT_TRUE(made[0].cancelled_at);
    EXPECT_EQ(state("A"), "sent");
    const auto third = list_file_payouts(database.database(), 3);
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0].end_to_end_id, "B");
}

// In the lost time it was sent and refused, or given up, and a payout of it refused.
TEST_F(AfterRestoreTest, an_unsent_file_of_the_backup_is_not_sent_by_itself) {
    insert_payout("A");
    cut_off();
    restore();

    const auto done = answer(RestoreAnswer{.none = true});

    EXPECT_EQ(
        (std::pair{done.cancelled, done.unsent}), (std::pair<std::int64_t, std::int64_t>{1, 0})
    );
    EXPECT_EQ(set_aside(), std::vector<std::string>{"A"});
}

// Whatever takes it out of a file of before the restore: a person may have refused it meanwhile.
TEST_F(AfterRestoreTest, what_leaves_a_file_of_the_backup_is_for_a_person) {
    insert_payout("A");
    insert_payout("B");
    cut_off();
    send(1);
    restore();
    answer({sent(2, {"B"})});

    database.in_tx([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); });
    cut_off();

    EXPECT_EQ(set_aside(), std::vector<std::string>{"A"});
    EXPECT_EQ(state("B"), "sent");  // In file 2.
    EXPECT_EQ(files(), 2U);
}

TEST_F(AfterRestoreTest, a_refused_payout_of_a_named_file_is_told) {
    insert_payout("A", "Jane \xef\xbf\xbf");
    cut_off();
    database.in_tx([](pawl::Tx& tx) { refuse_payout(tx, 1, ann); });
    restore();

    EXPECT_EQ(answer({sent(1, {"A"})}).refused, 1);
}

TEST_F(AfterRestoreTest, a_release_does_not_answer_another_restore) {
    restore();

    EXPECT_NE(why_not({.release_waiting = true}).find("say --none"), std::string::npos);
    answer(std::vector<SentFile>{});
    EXPECT_EQ(why_not({.release_waiting = true}), "");
}

TEST_F(AfterRestoreTest, a_file_that_a_request_sends_is_not_overtaken) {
    insert_payout("A");
    cut_off();
    restore();
    database.in_tx([](pawl::Tx& tx) {
        pawl::execute(tx, sql::claim_file, std::int64_t{1}, std::int64_t{7});
    });

    const RestoreAnswer given{.files = {sent(2, {"A"})}};

    EXPECT_NE(why_not(given).find("a request of this database sends file 1"), std::string::npos);
    database.in_tx([](pawl::Tx& tx) {
        pawl::execute(tx, sql::give_up_file, std::int64_t{1}, tx.now());
    });
    EXPECT_EQ(answer(given).cancelled, 1);
}

TEST_F(AfterRestoreTest, a_lost_file_that_the_bank_has_refused_is_made_again) {
    insert_payout("A");
    restore();
    answer({sent(1, {"A"})});

    database.in_tx([](pawl::Tx& tx) { cancel_file(tx, {.number = 1}, ann); });
    EXPECT_EQ(answer(std::vector<SentFile>{}).released, 1);
    cut_off();

    ASSERT_EQ(list_file_payouts(database.database(), 2).size(), 1U);
    EXPECT_EQ(state("A"), "in_file");
}

TEST_F(AfterRestoreTest, a_file_that_is_forgotten_or_named_twice_is_noticed) {
    insert_payout("A");
    restore();

    EXPECT_NE(why_not({.files = {sent(2, {"A"})}}).find("file 1 is missing"), std::string::npos);
    EXPECT_NE(
        why_not({.files = {sent(1, {"A"}), sent(1, {"A"})}}).find("twice"), std::string::npos
    );
    EXPECT_NE(
        why_not({.files = {sent(1, {"A"})}, .never_sent = {1}}).find("never sent"),
        std::string::npos
    );
    EXPECT_EQ(answer(RestoreAnswer{.files = {sent(2, {"A"})}, .never_sent = {1}}).next_number, 3);
    EXPECT_NE(why_not({.never_sent = {0}}).find("file 0 is not lost"), std::string::npos);
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

// The next cut-off has sent it in between.
TEST_F(AfterRestoreTest, a_file_that_is_named_too_late_is_counted) {
    insert_payout("A");
    restore();
    answer(std::vector<SentFile>{});
    cut_off();
    send(1);

    EXPECT_EQ(answer({sent(2, {"A"})}).in_other_files, 1);
}

TEST_F(AfterRestoreTest, a_database_that_was_not_restored_has_no_answer) {
    EXPECT_NE(why_not({}).find("never restored"), std::string::npos);
}

}  // namespace

}  // namespace payouts::decisions_test
