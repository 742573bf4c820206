#include "transfers.hpp"

#include <pawl/testing_operations.hpp>

#include <cstdio>
#include <set>

// Books each key once, and prints each cheque.
struct FakeBank : Bank {
    FakeBank() : Bank{"http://127.0.0.1:1"} {}
    Paid transfer(pawl::KeyedCall& call, const PaymentRequest&) override {
        booked += keys.insert(call.key().text).second ? 1 : 0;
        return Accepted{"t1"};
    }
    Paid cheque(pawl::Call&, const PaymentRequest&) override { return ++booked, Accepted{"c1"}; }
    std::set<std::string> keys;
    int booked{};
};

template <class Op>
int failures_wherever_it_dies() {
    std::shared_ptr<FakeBank> bank;
    int failures = 0;
    const auto money = [](pawl::testing::TestDatabase& database, std::string name) {
        return database.in_tx([&](pawl::Tx& tx) {
            return pawl::query_one<Account>(tx, sql::find_account, name).cents;
        });
    };
    pawl::testing::kill_everywhere(pawl::testing::KillPlan<Op>{
        .owner = "transfers",
        .migrations = sql::migrations::all,
        .prepare = [&](auto& database
                   ) { database.in_tx(&open_accounts), bank = std::make_shared<FakeBank>(); },
        .make = [&] { return Op{bank}; },
        .request = {"jane", "joe", 300},
        .check =
            [&](auto& database, const auto& run) {
                const bool answered = std::holds_alternative<pawl::RunAnswer>(run.end);
                const bool in_doubt = !answered && std::is_same_v<Op, Cheque>;
                const bool right = money(database, "jane") == 700 &&
                                   (bank->booked == 1 || in_doubt) && (answered || in_doubt) &&
                                   database.template jobs<Notice>().size() == (answered ? 1U : 0U);
                if (!right)
                    ++failures, std::printf("%s: wrong %s\n", Op::name.data(), run.text().c_str());
            }});
    return failures;
}

int main() {
    return failures_wherever_it_dies<Transfer>() + failures_wherever_it_dies<Cheque>();
}
