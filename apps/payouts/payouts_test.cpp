#include <pawl/testing.hpp>

#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/post_payout.hpp"
#include "apps/payouts/send_file.hpp"
#include "payouts/migrations.hpp"
#include "payouts/statements.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace payouts {

namespace {

using pawl::testing::TestDatabase;

Settings iso_settings() {
    Settings settings;
    settings.iso20022 =
        Settings::Iso20022{"Rocket Rides", "DE89370400440532013000", {}, "EUR", {}, {}};
    settings.payouts_max = 2;
    return settings;
}

class PayoutsTest : public ::testing::Test {
protected:
    std::string post(const std::string& key, std::int64_t amount = 1000) {
        PostPayout op{format};
        const PostPayout::Started at{
            .key_id = ++key_id,
            .principal = {"payouts", "shop"},
            .key = key,
            .request = {
                .amount = amount,
                .currency = "EUR",
                .creditor_name = "Jane",
                .creditor_account = "GB29NWBK60161331926819",
                .routing_number = {},
                .reference = {}}};
        const auto ended = database.in_tx([&](pawl::Tx& tx) { return op.insert(tx, at); });
        return pawl::testing::finish(ended)->body;
    }
    void cut_off(pawl::Tx& tx) { CutOffWorker{format}.work(tx, pawl::Job<CutOff>{}); }
    std::vector<std::int64_t> numbers() {
        static constexpr pawl::Statement<0> list{
            "list_numbers", "SELECT number FROM bank_files ORDER BY number", {}};
        return database.in_tx([](pawl::Tx& tx) { return pawl::query<std::int64_t>(tx, list); });
    }

    TestDatabase database{"payouts", sql::migrations::all};
    BankFormat format{iso_settings()};
    std::int64_t key_id{};
};

TEST_F(PayoutsTest, one_request_has_one_end_to_end_id_even_in_another_database) {
    const auto first = post("k");
    const auto of_k = first.substr(first.find("end_to_end_id"));
    const auto other = post("k-2");
    EXPECT_EQ(other.find(of_k), other.npos);

    TestDatabase restored{"payouts", sql::migrations::all};
    std::swap(database, restored);
    const auto again = post("k");

    EXPECT_EQ(again.substr(again.find("end_to_end_id")), of_k);
}

TEST_F(PayoutsTest, a_cut_off_freezes_at_most_so_many_payouts_and_stages_the_next) {
    for (const auto* key : {"a", "b", "c"}) post(key);

    database.in_tx([&](pawl::Tx& tx) { cut_off(tx); });

    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{1}));
    EXPECT_EQ(database.staged("cut_off"), 1);
    EXPECT_EQ(database.staged("send_file"), 1);
    database.in_tx([&](pawl::Tx& tx) { cut_off(tx); });
    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(database.staged("send_file"), 1);  // Of the first: the second waits for it.
}

TEST_F(PayoutsTest, a_rolled_back_cut_off_leaves_no_gap) {
    post("a");
    EXPECT_THROW(
        database.in_tx([&](pawl::Tx& tx) {
            cut_off(tx);
            throw std::runtime_error{"after the file"};
        }),
        std::runtime_error
    );
    database.in_tx([&](pawl::Tx& tx) { cut_off(tx); });

    EXPECT_EQ(numbers(), (std::vector<std::int64_t>{1}));
}

TEST_F(PayoutsTest, the_database_refuses_a_payout_in_a_second_file) {
    post("a");
    static constexpr pawl::Statement<0> put{
        "put_again", "INSERT INTO bank_file_payouts (payout_id, file_number) VALUES (1, 2)", {}};
    database.in_tx([&](pawl::Tx& tx) {
        cut_off(tx);
        const auto refused = tx.attempt([&] { pawl::execute(tx, put); });
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->kind(), pawl::StoreError::Kind::constraint);
    });
}

TEST_F(PayoutsTest, the_frozen_bytes_have_the_frozen_hash_and_sum) {
    post("a", 1);
    post("b", 99);
    database.in_tx([&](pawl::Tx& tx) { cut_off(tx); });
    struct File {
        std::vector<std::byte> bytes;
        std::string sha256;
        std::int64_t payouts{};
        std::int64_t amount{};
    };
    static constexpr pawl::Statement<0> find{
        "find_frozen", "SELECT bytes, sha256, payouts, amount FROM bank_files", {}};

    const auto file = database.in_tx([](pawl::Tx& tx) { return pawl::query_one<File>(tx, find); });

    EXPECT_EQ(pawl::bank::sha256(text_of(file.bytes)), file.sha256);
    EXPECT_EQ(file.payouts, 2);
    EXPECT_EQ(file.amount, 100);
    EXPECT_NE(text_of(file.bytes).find("<CtrlSum>1.00</CtrlSum>"), std::string::npos);
}

}  // namespace

}  // namespace payouts
