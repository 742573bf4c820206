#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/testing_operations.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

// Whole operations as an application tests them: run once, and cut at each commit and call.
namespace wire {
namespace {

using pawl::answer, pawl::Atomic, pawl::Call, pawl::Finish, pawl::Foreign, pawl::KeyedCall,
    pawl::Next, pawl::Outcome, pawl::Refusal, pawl::refuse, pawl::Repeat, pawl::Statement,
    pawl::Steps, pawl::Tx;
using pawl::testing::Cut, pawl::testing::CutRun, pawl::testing::KillPlan, pawl::testing::returns,
    pawl::testing::TestDatabase;

constexpr pawl::Sql tables{
    "0001_accounts",
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0)) "
    "STRICT;"
    "CREATE TABLE wires (key TEXT, state TEXT NOT NULL) STRICT;",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&tables};
constexpr Statement<2> open_account{"open_account", "INSERT INTO accounts VALUES ($1, $2)", {}};
constexpr Statement<2> take{
    "take", "UPDATE accounts SET cents = cents - $2 WHERE name = $1 AND cents >= $2", {}};
constexpr Statement<2> give{"give", "UPDATE accounts SET cents = cents + $2 WHERE name = $1", {}};
constexpr Statement<1> balance{"balance", "SELECT cents FROM accounts WHERE name = $1", {}};
constexpr Statement<2> open_wire{"open_wire", "INSERT INTO wires VALUES ($1, $2)", {}};
constexpr Statement<2> close_wire{"close_wire", "UPDATE wires SET state = $2 WHERE key = $1", {}};
constexpr Statement<0> states{"states", "SELECT state FROM wires", {}};

// Another bank. One that honours keys books a payment once, however often it is asked.
struct OtherBank {
    bool honours_keys{true};
    bool closed{false};
    std::vector<std::int64_t> booked{};
    std::set<std::string> keys{};
    void book(const std::string& key, std::int64_t cents) {
        if (!honours_keys || keys.insert(key).second) booked.push_back(cents);
    }
};

struct SendNotice {
    static constexpr std::string_view kind = "send_notice";
    std::int64_t cents{};
};
struct Request {
    std::int64_t cents{};
};
struct Accepted {
    std::string reference;
};
struct Closed {
    std::string why;
};
struct Why {
    std::string why;
};

template <Repeat Again>
class Wire {
public:
    static constexpr std::string_view name = "wire";
    explicit Wire(OtherBank& bank) : bank_{&bank} {}
    using Started = pawl::Started<Request>;
    struct Taken {
        static constexpr std::string_view name = "taken";
        std::string key;
        std::int64_t cents{};
    };

    Next<Taken, Refusal> take_money(Tx& tx, const Started& at) {
        execute(tx, open_wire, at.key, "open");
        if (execute(tx, take, "jane", at.request.cents) == 0)
            return refuse(422, Why{"too little money"});
        return Taken{at.key, at.request.cents};
    }
    Outcome<Accepted, Closed> pay(KeyedCall& call, const Taken& at) {
        return pay_at_bank(call.key().text, at);
    }
    Outcome<Accepted, Closed> pay_once(Call&, const Taken& at) { return pay_at_bank({}, at); }
    Finish keep_payment(Tx& tx, const Taken& at, const Accepted& accepted) {
        execute(tx, close_wire, at.key, "paid");
        tx.stage(SendNotice{at.cents});
        return answer(201, accepted);
    }
    Finish give_back(Tx& tx, const Taken& at, const Closed& closed) {
        execute(tx, close_wire, at.key, "returned");
        execute(tx, give, "jane", at.cents);
        return answer(409, closed);
    }

    static constexpr auto call() {
        if constexpr (Again == Repeat::never)
            return &Wire::pay_once;
        else
            return &Wire::pay;
    }
    using Flow = Steps<
        Atomic<&Wire::take_money>,
        Foreign<Again, Wire::call(), &Wire::keep_payment, &Wire::give_back>>;

private:
    Outcome<Accepted, Closed> pay_at_bank(const std::string& key, const Taken& at) {
        if (bank_->closed) return Closed{"closed"};
        bank_->book(key, at.cents);
        return Accepted{"ref"};
    }
    OtherBank* bank_;
};
using KeyedWire = Wire<Repeat::safe_with_key>;
using WireOnce = Wire<Repeat::never>;

void open_accounts(TestDatabase& database) {
    database.in_tx([](Tx& tx) { execute(tx, open_account, "jane", 1000); });
}
std::int64_t money_of_jane(TestDatabase& database) {
    return database.in_tx([](Tx& tx) { return query_one<std::int64_t>(tx, balance, "jane"); });
}
std::vector<std::string> states_of(TestDatabase& database) {
    return database.in_tx([](Tx& tx) { return query<std::string>(tx, states); });
}
int status_of(const pawl::RunResult& end) {
    return std::get<pawl::RunAnswer>(end).response.status;
}

class RunOperation : public ::testing::Test {
protected:
    RunOperation() { open_accounts(database); }
    OtherBank bank;
    TestDatabase database{"wire", migrations};
};

TEST_F(RunOperation, runs_all_steps) {
    const auto end = run(database, KeyedWire{bank}, {.cents = 300});

    EXPECT_EQ(status_of(end), 201);
    EXPECT_EQ(money_of_jane(database), 700);
    EXPECT_EQ(bank.booked, std::vector<std::int64_t>{300});
    EXPECT_EQ(database.staged(SendNotice::kind), 1);
}

TEST_F(RunOperation, undoes_what_a_refusing_step_wrote) {
    const auto end = run(database, KeyedWire{bank}, {.cents = 3000});

    EXPECT_EQ(status_of(end), 422);
    EXPECT_TRUE(states_of(database).empty());
}

TEST_F(RunOperation, takes_the_result_of_a_call_from_the_test) {
    const auto paid =
        run(database, KeyedWire{bank}, {.cents = 300}, returns<&KeyedWire::pay>(Accepted{"x"}));
    const auto closed =
        run(database,
            KeyedWire{bank},
            {.cents = 300},
            {.key = "another"},
            returns<&KeyedWire::pay>(Closed{"for ever"}));

    EXPECT_EQ(std::get<pawl::RunAnswer>(paid).response.body, R"({"reference":"x"})");
    EXPECT_EQ(std::get<pawl::RunAnswer>(closed).response.body, R"({"why":"for ever"})");
    EXPECT_TRUE(bank.booked.empty());
    EXPECT_EQ(money_of_jane(database), 700);
}

TEST_F(RunOperation, replays_a_repeat_under_the_same_key) {
    (void)run(database, KeyedWire{bank}, {.cents = 300});

    const auto again = run(database, KeyedWire{bank}, {.cents = 300});

    EXPECT_TRUE(std::get<pawl::RunAnswer>(again).replayed);
    EXPECT_EQ(bank.booked.size(), 1U);
}

class KillEverywhere : public ::testing::Test {
protected:
    template <class Op>
    KillPlan<Op> plan(std::function<void(TestDatabase&, const CutRun&)> check) {
        return {
            .owner = "wire",
            .migrations = migrations,
            .prepare =
                [this](TestDatabase& database) {
                    bank = OtherBank{bank.honours_keys, bank.closed};
                    open_accounts(database);
                },
            .make = [this] { return Op{bank}; },
            .request = {.cents = 300},
            .check = std::move(check)};
    }
    // No money is lost or paid twice.
    std::string trouble(TestDatabase& database) const {
        const auto money = money_of_jane(database);
        const auto wires = states_of(database);
        if (bank.booked.size() > 1) return "paid twice";
        if (wires == std::vector<std::string>{"paid"})
            return money == 700 && bank.booked.size() == 1 ? "" : "the books differ";
        if (wires == std::vector<std::string>{"returned"})
            return money == 1000 && bank.booked.empty() ? "" : "the books differ";
        return "the wire is open";
    }
    OtherBank bank;
};

TEST_F(KillEverywhere, an_operation_with_a_key_pays_once_and_ends) {
    std::map<Cut, int> cuts;
    const auto runs = kill_everywhere(plan<KeyedWire>([&](auto& database, const CutRun& run) {
        ++cuts[run.cut];
        EXPECT_EQ(trouble(database), "") << run.text();
        EXPECT_EQ(status_of(run.end), 201) << run.text();
        EXPECT_EQ(database.staged(SendNotice::kind), 1) << run.text();
    }));

    EXPECT_EQ(cuts.size(), 9U);
    EXPECT_GE(cuts[Cut::before_commit], 2);
    EXPECT_EQ(cuts[Cut::call_returns_late], 1);
    int sum = 0;
    for (const auto& [cut, count] : cuts) sum += count;
    EXPECT_EQ(sum, runs);
}

TEST_F(KillEverywhere, a_refused_payment_gives_the_money_back) {
    bank.closed = true;
    kill_everywhere(plan<KeyedWire>([&](auto& database, const CutRun& run) {
        EXPECT_EQ(trouble(database), "") << run.text();
        EXPECT_EQ(status_of(run.end), 409) << run.text();
    }));
}

TEST_F(KillEverywhere, a_call_that_must_not_be_repeated_waits_for_a_person) {
    bank.honours_keys = false;
    int waiting = 0;
    kill_everywhere(plan<WireOnce>([&](auto& database, const CutRun& run) {
        EXPECT_LE(bank.booked.size(), 1U) << run.text();
        if (const auto* problem = std::get_if<pawl::RunProblem>(&run.end)) {
            EXPECT_EQ(problem->type, "needs-attention") << run.text();
            ++waiting;
        } else {
            EXPECT_EQ(trouble(database), "") << run.text();
        }
    }));

    EXPECT_GT(waiting, 0);
}

// It asks each run's client once more; what it gets must be the first answer.
TEST_F(KillEverywhere, finds_a_repeat_that_is_answered_differently) {
    static constexpr Statement<2> answer_otherwise{
        "answer_otherwise",
        "UPDATE pawl_idempotency_keys SET response_body = $1, response_status = $2 WHERE status = "
        "'finished'",
        {}};
    const std::string own = R"({"reference":"ref"})";
    for (const auto& other : {std::pair{std::string{"{}"}, 201}, std::pair{own, 200}}) {
        TestDatabase* at = nullptr;
        auto wrong = plan<KeyedWire>([](auto&, const CutRun&) {});
        wrong.prepare = [&, prepare = wrong.prepare](TestDatabase& database) {
            prepare(database);
            at = &database;
        };
        wrong.make = [&] {  // For each process; the last one answers the repeat.
            at->in_tx([&](Tx& tx) { execute(tx, answer_otherwise, other.first, other.second); });
            return KeyedWire{bank};
        };

        EXPECT_THROW(kill_everywhere(wrong), std::logic_error);
    }
}

// What it is for: the program below is wrong, as its bank does not honour keys.
TEST_F(KillEverywhere, finds_a_payment_that_is_made_twice) {
    bank.honours_keys = false;
    std::set<Cut> wrong;
    kill_everywhere(plan<KeyedWire>([&](auto& database, const CutRun& run) {
        if (trouble(database) == "paid twice") wrong.insert(run.cut);
    }));

    EXPECT_TRUE(wrong.contains(Cut::after_call));
    EXPECT_TRUE(wrong.contains(Cut::call_in_doubt));
    EXPECT_TRUE(wrong.contains(Cut::call_returns_late));
    EXPECT_FALSE(wrong.contains(Cut::call_refused));
}

// And this one: its second phase relies on a member variable, which dies with the process.
class Forgetful {
public:
    static constexpr std::string_view name = "forgetful";
    using Started = pawl::Started<Request>;
    struct Begun {
        static constexpr std::string_view name = "begun";
    };
    Next<Begun> begin(Tx&, const Started& at) {
        cents_ = at.request.cents;
        return Begun{};
    }
    Outcome<Accepted> call(KeyedCall&, const Begun&) { return Accepted{"ref"}; }
    Finish keep(Tx& tx, const Begun&, const Accepted& accepted) {
        execute(tx, take, "jane", cents_);
        return answer(201, accepted);
    }
    using Flow = Steps<
        Atomic<&Forgetful::begin>,
        Foreign<Repeat::safe_with_key, &Forgetful::call, &Forgetful::keep>>;

private:
    std::int64_t cents_{};
};

TEST_F(KillEverywhere, finds_state_that_is_not_in_a_recovery_point) {
    std::set<Cut> wrong;
    kill_everywhere(KillPlan<Forgetful>{
        .owner = "wire",
        .migrations = migrations,
        .prepare = &open_accounts,
        .make = [] { return Forgetful{}; },
        .request = {.cents = 300},
        .check =
            [&](TestDatabase& database, const CutRun& run) {
                if (money_of_jane(database) != 700) wrong.insert(run.cut);
            }});

    EXPECT_EQ(
        wrong,
        (std::set<Cut>{
            Cut::before_commit,
            Cut::after_commit,
            Cut::after_call,
            Cut::call_refused,
            Cut::call_lost,
            Cut::call_in_doubt,
            Cut::call_returns_late})
    );
}

TEST_F(KillEverywhere, passes_on_what_the_check_throws) {
    EXPECT_THROW(
        kill_everywhere(plan<KeyedWire>([](auto&, const CutRun&) {
            throw std::runtime_error{"REQUIRE"};
        })),
        std::runtime_error
    );
}

}  // namespace
}  // namespace wire
