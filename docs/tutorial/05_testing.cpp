#include <pawl/testing_operations.hpp>

#include "docs/tutorial/wire.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

// Tutorial, chapter 5: the wire of chapter 2, tested without a server and without a bank.
namespace transfers {
namespace {

using pawl::testing::CutRun, pawl::testing::KillPlan, pawl::testing::TestDatabase;

// Books what it is asked to, once for each key if it honours keys.
class FakeBank final : public Bank {
public:
    PaymentOutcome pay(pawl::KeyedCall& call, const Payment& payment) override {
        if (payment.payee == "closed") return Refused{"this account is closed"};
        if (keys_.insert(call.key().text).second || forgets_keys) booked.push_back(payment.cents);
        return Accepted{"p1"};
    }
    PaymentOutcome pay_once(pawl::Call&, const Payment&) override {
        return pawl::Retry{"this fake has keys"};
    }
    std::string name() const override { return "fake bank"; }

    bool forgets_keys{false};
    std::vector<std::int64_t> booked;
    std::int64_t sum() const { return std::accumulate(booked.begin(), booked.end(), 0L); }

private:
    std::set<std::string> keys_;
};

std::int64_t money_of_jane(TestDatabase& database) {
    return database.in_tx([](pawl::Tx& tx) {
        return pawl::query_one<Account>(tx, sql::find_account, "jane").cents;
    });
}

class WireTest : public ::testing::Test {
protected:
    WireTest() { database.in_tx(&open_accounts); }

    TestDatabase database{"transfers", sql::migrations::all};
    std::shared_ptr<FakeBank> bank = std::make_shared<FakeBank>();
    Wire wire{bank};
};

TEST_F(WireTest, takes_the_money_before_the_call) {
    const Wire::Started started{.key_id = 7, .request = {"jane", "anna", 300}};

    const auto next = database.in_tx([&](pawl::Tx& tx) { return wire.take_money(tx, started); });

    ASSERT_NE(pawl::testing::point<Wire::MoneyTaken>(next), nullptr);
    EXPECT_EQ(money_of_jane(database), 700);
}

TEST_F(WireTest, gives_the_money_back_if_the_bank_refuses) {
    const auto end = run(database, wire, {"jane", "closed", 300});

    EXPECT_EQ(std::get<pawl::RunAnswer>(end).response.status, 422);
    EXPECT_EQ(money_of_jane(database), 1000);
}

void pay_once_wherever_the_process_dies(bool forgets_keys) {
    std::shared_ptr<FakeBank> bank;
    const int runs = kill_everywhere(KillPlan<Wire>{
        .owner = "transfers",
        .migrations = sql::migrations::all,
        .prepare =  // Before each run: a new database, and a new bank.
        [&](TestDatabase& database) {
            database.in_tx(&open_accounts);
            bank = std::make_shared<FakeBank>();
            bank->forgets_keys = forgets_keys;
        },
        .make = [&] { return Wire{bank}; },  // For each process.
        .request = {"jane", "anna", 300},
        .check =  // After each run.
        [&](TestDatabase& database, const CutRun& run) {
            EXPECT_EQ(bank->booked.size(), 1U) << run.text();
            EXPECT_EQ(money_of_jane(database) + bank->sum(), 1000) << run.text();
            EXPECT_EQ(std::get<pawl::RunAnswer>(run.end).response.status, 201) << run.text();
        }});
    EXPECT_EQ(runs, 12);  // Without a cut, three cuts at each of 2 commits, five at the call.
}

TEST(KillEverywhere, a_wire_pays_once) {
    pay_once_wherever_the_process_dies(false);
}

// Fails, to show what the test finds: this bank books each repeat.
TEST(KillEverywhere, DISABLED_a_wire_to_a_bank_that_forgets_keys_pays_once) {
    pay_once_wherever_the_process_dies(true);
}

}  // namespace
}  // namespace transfers
