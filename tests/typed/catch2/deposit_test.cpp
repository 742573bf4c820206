#define CATCH_CONFIG_MAIN
#include <pawl/operation.hpp>
#include <pawl/testing_operations.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <set>
#include <string>

// An application that tests its operations with Catch2, whose assertions throw (issue 19, part 6).
namespace {

constexpr pawl::Sql table{"0001_deposits", "CREATE TABLE deposits (cents INTEGER NOT NULL)", {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&table};
constexpr pawl::Statement<1> insert_deposit{
    "insert_deposit", "INSERT INTO deposits VALUES ($1)", {}};
constexpr pawl::Statement<0> count_deposits{"count_deposits", "SELECT count(*) FROM deposits", {}};

struct Bank {
    bool honours_keys{true};
    int booked{};
    std::set<std::string> keys{};
};
struct Request {
    std::int64_t cents{};
};
struct Booked {
    bool done{};
};

class Deposit {
public:
    static constexpr std::string_view name = "deposit";
    explicit Deposit(Bank& bank) : bank_{bank} {}
    struct Ordered {
        static constexpr std::string_view name = "ordered";
        std::int64_t cents{};
    };
    pawl::Next<Ordered> order(pawl::Tx&, const pawl::Started<Request>& at) {
        return Ordered{at.request.cents};
    }
    pawl::Outcome<Booked> book(pawl::KeyedCall& call, const Ordered&) {
        if (bank_.keys.insert(call.key().text).second || !bank_.honours_keys) ++bank_.booked;
        return Booked{true};
    }
    pawl::Finish keep(pawl::Tx& tx, const Ordered& at, const Booked&) {
        execute(tx, insert_deposit, at.cents);
        return pawl::answer(201, "");
    }
    using Flow = pawl::Steps<
        pawl::Atomic<&Deposit::order>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Deposit::book, &Deposit::keep>>;

private:
    Bank& bank_;
};

std::int64_t deposits(pawl::testing::TestDatabase& database) {
    return database.in_tx([](pawl::Tx& tx) {
        return pawl::query_one<std::int64_t>(tx, count_deposits);
    });
}

int kill_everywhere(
    Bank& bank,
    std::function<void(pawl::testing::TestDatabase&, const pawl::testing::CutRun&)> check
) {
    return pawl::testing::kill_everywhere(pawl::testing::KillPlan<Deposit>{
        .owner = "deposits",
        .migrations = migrations,
        .prepare =
            [&](auto&) {
                bank.booked = 0;
                bank.keys.clear();
            },
        .make = [&] { return Deposit{bank}; },
        .request = {300},
        .check = std::move(check)});
}

struct Wrong {};

}  // namespace

TEST_CASE("a deposit is booked once wherever the process dies") {
    Bank bank;
    const int runs = kill_everywhere(bank, [&](auto& database, const auto& run) {
        INFO(run.text());
        REQUIRE(bank.booked == 1);
        REQUIRE(deposits(database) == 1);
    });
    REQUIRE(runs == 12);
}

TEST_CASE("a check that throws, as REQUIRE does, ends kill_everywhere") {
    Bank bank{.honours_keys = false};
    REQUIRE_THROWS_AS(
        kill_everywhere(
            bank,
            [&](auto&, const auto&) {
                if (bank.booked != 1) throw Wrong{};
            }
        ),
        Wrong
    );
}
