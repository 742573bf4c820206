#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

// pawl/testing.hpp as an application uses it, for a small operation.
namespace bank {
namespace {

using pawl::Finish, pawl::KeyedCall, pawl::Next, pawl::Outcome, pawl::Statement, pawl::Tx;
using pawl::testing::FakeCall, pawl::testing::finish, pawl::testing::point, pawl::testing::result,
    pawl::testing::TestDatabase;

constexpr pawl::Sql tables{
    "0001_accounts",
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents >= 0)) "
    "STRICT;"
    "INSERT INTO accounts VALUES ('jane', 1000);",
    {}};
constexpr std::array<const pawl::Sql*, 1> migrations{&tables};
constexpr Statement<2> book{"book", "UPDATE accounts SET cents = cents + $2 WHERE name = $1", {}};
constexpr Statement<1> balance{"balance", "SELECT cents FROM accounts WHERE name = $1", {}};

struct TellOwner {
    static constexpr std::string_view kind = "tell_owner";
    std::string name;
    std::int64_t cents{};
};
struct Sent {
    std::string reference;
};
struct NoSuchAccount {
    std::string why;
};

// Another bank, from the operation's view.
struct OtherBank {
    std::string closed{};
    std::string last_key{};
    Outcome<Sent, NoSuchAccount> send(KeyedCall& call, const std::string& to) {
        call.assert_open();
        if (call.stop().stop_requested()) return pawl::Retry{"stopping"};
        last_key = call.key().text;
        if (to == closed) return NoSuchAccount{to + " is closed"};
        return Sent{"ref-" + to};
    }
};

class Transfer {
public:
    static constexpr std::string_view name = "transfer";
    explicit Transfer(OtherBank& other) : other_{other} {}
    struct Request {
        std::string from;
        std::string to;
        std::int64_t cents{};
    };
    using Started = pawl::Started<Request>;
    struct Taken {
        static constexpr std::string_view name = "taken";
        std::string from;
        std::string to;
        std::int64_t cents{};
    };
    Next<Taken> take(Tx& tx, const Started& at) {
        const auto& r = at.request;
        const auto failed = tx.attempt([&] { pawl::execute(tx, book, r.from, -r.cents); });
        if (failed) return pawl::answer(422, std::string{R"({"why":"not enough"})"});
        return Taken{r.from, r.to, r.cents};
    }
    Outcome<Sent, NoSuchAccount> send(KeyedCall& call, const Taken& at) {
        return other_.send(call, at.to);
    }
    Finish keep(Tx& tx, const Taken& at, const Sent& sent) {
        tx.stage(TellOwner{at.from, -at.cents});
        return pawl::answer(201, sent);
    }
    Finish release(Tx& tx, const Taken& at, const NoSuchAccount& no) {
        pawl::execute(tx, book, at.from, at.cents);
        return pawl::answer(404, no);
    }
    using Flow = pawl::Steps<
        pawl::Atomic<&Transfer::take>,
        pawl::Foreign<
            pawl::Repeat::safe_with_key,
            &Transfer::send,
            &Transfer::keep,
            &Transfer::release>>;

private:
    OtherBank& other_;
};
static_assert(pawl::Operation<Transfer>);

class TransferTest : public ::testing::Test {
protected:
    std::int64_t cents() {
        return database.in_tx([](Tx& tx) {
            return pawl::query_one<std::int64_t>(tx, balance, "jane");
        });
    }
    static Transfer::Started started(std::int64_t cents) {
        return {.key_id = 1, .request = {.from = "jane", .to = "joe", .cents = cents}};
    }

    TestDatabase database{"bank", migrations};
    OtherBank other;
    Transfer transfer{other};
};

TEST_F(TransferTest, a_phase_writes_and_leads_to_its_point) {
    const auto next = database.in_tx([&](Tx& tx) { return transfer.take(tx, started(300)); });

    ASSERT_NE(point<Transfer::Taken>(next), nullptr);
    EXPECT_EQ(point<Transfer::Taken>(next)->cents, 300);
    EXPECT_EQ(finish(next), nullptr);
    EXPECT_EQ(cents(), 700);
}

TEST_F(TransferTest, a_phase_that_refuses_has_written_nothing) {
    const auto next = database.in_tx([&](Tx& tx) { return transfer.take(tx, started(1001)); });

    ASSERT_NE(finish(next), nullptr);
    EXPECT_EQ(finish(next)->status, 422);
    EXPECT_EQ(point<Transfer::Taken>(next), nullptr);
    EXPECT_EQ(cents(), 1000);
}

TEST_F(TransferTest, a_foreign_step_gets_the_key_and_names_its_result) {
    FakeCall call{"key-1"};

    const auto outcome = transfer.send(call.keyed(), {"jane", "joe", 300});

    ASSERT_NE(result<Sent>(outcome), nullptr);
    EXPECT_EQ(result<Sent>(outcome)->reference, "ref-joe");
    EXPECT_EQ(result<NoSuchAccount>(outcome), nullptr);
    EXPECT_EQ(other.last_key, "key-1");
}

TEST_F(TransferTest, a_refused_call_is_another_result) {
    other.closed = "joe";
    FakeCall call;

    const auto outcome = transfer.send(call.keyed(), {"jane", "joe", 300});

    ASSERT_NE(result<NoSuchAccount>(outcome), nullptr);
    EXPECT_EQ(result<Sent>(outcome), nullptr);
}

TEST_F(TransferTest, a_call_can_be_told_to_stop) {
    FakeCall call;
    call.request_stop();

    const auto outcome = transfer.send(call.keyed(), {"jane", "joe", 300});

    EXPECT_NE(result<pawl::Retry>(outcome), nullptr);
    EXPECT_EQ(other.last_key, "");
}

TEST_F(TransferTest, a_keeper_stages_what_the_test_can_read) {
    database.in_tx([&](Tx& tx) { (void)transfer.keep(tx, {"jane", "joe", 300}, {"ref"}); });
    database.in_tx([&](Tx& tx) { (void)transfer.keep(tx, {"joe", "jane", 5}, {"ref"}); });

    EXPECT_EQ(database.staged(TellOwner::kind), 2);
    const auto jobs = database.jobs<TellOwner>();
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].name, "jane");
    EXPECT_EQ(jobs[0].cents, -300);
    EXPECT_EQ(jobs[1].name, "joe");
}

TEST_F(TransferTest, the_other_keeper_undoes_what_the_phase_did) {
    database.in_tx([&](Tx& tx) { (void)transfer.take(tx, started(300)); });

    const auto end = database.in_tx([&](Tx& tx) {
        return transfer.release(tx, {"jane", "joe", 300}, {"closed"});
    });

    EXPECT_EQ(finish(end)->status, 404);
    EXPECT_EQ(cents(), 1000);
    EXPECT_TRUE(database.jobs<TellOwner>().empty());
}

TEST_F(TransferTest, an_exception_leaves_neither_writes_nor_jobs) {
    EXPECT_THROW(
        database.in_tx([&](Tx& tx) {
            (void)transfer.take(tx, started(300));
            (void)transfer.keep(tx, {"jane", "joe", 300}, {"ref"});
            throw std::runtime_error{"late"};
        }),
        std::runtime_error
    );

    EXPECT_EQ(cents(), 1000);
    EXPECT_EQ(database.staged(TellOwner::kind), 0);
}

TEST_F(TransferTest, a_broken_constraint_is_the_error_of_a_server) {
    try {
        database.in_tx([](Tx& tx) { pawl::execute(tx, book, "jane", -2000); });
        FAIL() << "nothing was thrown";
    } catch (const pawl::StoreError& error) {
        EXPECT_EQ(error.kind(), pawl::StoreError::Kind::constraint);
        EXPECT_EQ(error.statement(), "book");
    }
    EXPECT_EQ(cents(), 1000);
}

TEST_F(TransferTest, each_database_is_its_own) {
    TestDatabase second{"bank", migrations};

    second.in_tx([](Tx& tx) { pawl::execute(tx, book, "jane", 1); });

    EXPECT_EQ(cents(), 1000);
}

TEST_F(TransferTest, a_client_that_is_called_in_a_transaction_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    FakeCall call;

    EXPECT_DEATH(
        database.in_tx([&](Tx&) {
            (void)transfer.send(call.keyed(), {"jane", "joe", 300});
        }),
        "in_transaction"
    );
    EXPECT_DEATH(database.in_tx([](Tx&) { FakeCall made_here; }), "in_transaction");
}

}  // namespace
}  // namespace bank
