#include "tests/postgres/node.hpp"

// Claims under preallocated ids, without a query before (src/engine/preallocated_ids.hpp,
// seen_keys.hpp).
namespace pawl::testing::claim_test {
namespace {

constexpr Statement<1> insert_payment{
    "insert_payment", {}, "INSERT INTO payments (cents) VALUES ($1)"};

// The error of its claim arrives with its first statement, which is in an attempt.
class PayIfPossible {
public:
    static constexpr std::string_view name = "pay_if_possible";
    static constexpr Settings settings{.in_progress = wait(60s)};
    using Started = pawl::Started<PayRequest>;
    Finish pay(Tx& tx, const Started& at) {
        const auto refused = tx.attempt([&] { execute(tx, insert_payment, at.request.cents); });
        return answer(refused ? 422 : 201, at.request);
    }
    using Flow = Steps<Atomic<&PayIfPossible::pay>>;
};

// Replaces every error by its own.
class PayAndWrap {
public:
    static constexpr std::string_view name = "pay_and_wrap";
    static constexpr Settings settings{.in_progress = wait(60s)};
    using Started = pawl::Started<PayRequest>;
    Finish pay(Tx& tx, const Started& at) {
        try {
            execute(tx, insert_payment, at.request.cents);
        } catch (const std::exception&) {
            throw std::runtime_error{"it did not work"};
        }
        return answer(201, at.request);
    }
    using Flow = Steps<Atomic<&PayAndWrap::pay>>;
};

class PostgresClaimTest : public NodesTest {
protected:
    PostgresClaimTest() { release(); }

    std::unique_ptr<Node> node() {
        auto made = NodesTest::node({});
        made->engine->add(detail::erase_operation(std::make_shared<PayIfPossible>()));
        made->engine->add(detail::erase_operation(std::make_shared<PayAndWrap>()));
        return made;
    }

    // As a client does: repeats while another request has the key.
    static Answer settled(
        Node& node, const std::string& key, std::string_view operation = Pay::name
    ) {
        for (;;) {
            auto answer = get(node.send(key, operation));
            if (!is_busy(answer)) return answer;
            std::this_thread::sleep_for(5ms);
        }
    }
    static bool is_busy(const Answer& answer) {
        const auto* refused = std::get_if<engine::Rejection>(&answer);
        return refused != nullptr && refused->reason == Reason::in_progress;
    }
    static bool is_replayed(const Answer& answer) {
        const auto* settled = std::get_if<engine::StoredResponse>(&answer);
        return settled != nullptr && settled->replayed;
    }
    // Each with a key of its own; then a block of ids has arrived.
    static void send_some(
        Node& node, const std::string& prefix, int count, std::string_view operation = Pay::name
    ) {
        for (int i = 0; i < count; ++i)
            EXPECT_EQ(status_of(settled(node, prefix + std::to_string(i), operation)), 201) << i;
    }
    void set_ids_back_to(int id) {
        run_sql(
            database.url(), "SELECT setval('pawl_key_registry_id_seq', " + std::to_string(id) + ")"
        );
    }
    void expect_no_error() {
        EXPECT_EQ(number("SELECT count(*) FROM pawl_idempotency_keys WHERE error IS NOT NULL"), 0);
    }
};

TEST_F(PostgresClaimTest, only_the_first_claim_waits_for_its_id) {
    const auto one = node();
    const auto ids_taken = [&] {
        return number("SELECT last_value FROM pawl_key_registry_id_seq");
    };
    int keys = 0;
    // The block may still be in flight when the sequence has moved; it is there when a key takes no
    // id. An unused sequence has the same value as after its first id.
    wait_until("a block", [&] {
        const auto before = ids_taken();
        EXPECT_EQ(status_of(settled(*one, "k" + std::to_string(++keys))), 201);
        return before > 1 && ids_taken() == before;
    });
    const auto before = ids_taken();

    send_some(*one, "more", 20);

    // Of one block, each once, in order.
    EXPECT_EQ(ids_taken(), before);
    EXPECT_EQ(
        number(
            "SELECT max(id) - min(id) FROM pawl_idempotency_keys WHERE idempotency_key LIKE 'more%'"
        ),
        19
    );
    EXPECT_EQ(
        number("SELECT count(*) FROM pawl_key_registry JOIN pawl_idempotency_keys USING (id, hash)"
        ),
        20 + keys
    );
    EXPECT_EQ(one->store.reads, 0);
}

TEST_F(PostgresClaimTest, of_two_concurrent_claims_of_one_key_one_wins) {
    const auto one = node();
    const auto other = node();
    send_some(*one, "a", 5);
    send_some(*other, "b", 5);

    for (int i = 0; i < 200; ++i) {
        const auto key = "k" + std::to_string(i);
        auto first = one->send(key);
        auto second = other->send(key);
        EXPECT_EQ(status_of(get(std::move(first))), 201);  // They wait for each other.
        EXPECT_EQ(status_of(get(std::move(second))), 201);
    }

    EXPECT_EQ(number("SELECT count(*) FROM payments"), 210);
    EXPECT_EQ(number("SELECT count(DISTINCT key) FROM calls"), 210);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), 210);
}

TEST_F(PostgresClaimTest, a_key_that_another_node_finished_is_replayed) {
    const auto one = node();
    const auto other = node();
    send_some(*other, "b", 5);
    send_some(*one, "k", 50);

    for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(is_replayed(settled(*other, "k" + std::to_string(i)))) << i;

    EXPECT_EQ(number("SELECT count(*) FROM calls"), 55);
}

// A failover to a stale copy: the sequence gives out cached ids again.
TEST_F(PostgresClaimTest, preallocated_ids_that_are_already_used_fail_no_request) {
    const auto one = node();
    send_some(*one, "a", 20);
    set_ids_back_to(21);

    const auto other = node();
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(status_of(settled(*other, "b" + std::to_string(i))), 201) << i;
        EXPECT_EQ(status_of(settled(*one, "c" + std::to_string(i))), 201) << i;
    }

    EXPECT_EQ(number("SELECT count(*) FROM payments"), 620);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), 620);
    expect_no_error();
}

TEST_F(PostgresClaimTest, a_sequence_that_reaches_used_ids_fails_no_request) {
    const auto one = node();
    send_some(*one, "a", 1);
    set_ids_back_to(2);
    send_some(*one, "b", 40);

    const auto other = node();
    send_some(*other, "c", 40);
    send_some(*one, "d", 40);

    EXPECT_EQ(number("SELECT count(*) FROM payments"), 121);
    expect_no_error();
}

TEST_F(PostgresClaimTest, a_phases_attempt_does_not_get_the_claims_error) {
    const auto one = node();
    send_some(*one, "a", 20);
    set_ids_back_to(21);
    const auto other = node();

    for (int i = 0; i < 50; ++i) {
        const auto number = std::to_string(i);
        EXPECT_EQ(status_of(settled(*other, "b" + number, PayIfPossible::name)), 201) << i;
        EXPECT_EQ(status_of(settled(*one, "c" + number, PayIfPossible::name)), 201) << i;
    }

    EXPECT_EQ(number("SELECT count(*) FROM payments"), 120);
    expect_no_error();
}

TEST_F(PostgresClaimTest, a_lost_claim_is_no_error_whatever_the_phase_throws) {
    const auto one = node();
    const auto other = node();
    send_some(*one, "a", 5);
    send_some(*other, "b", 5);

    for (int i = 0; i < 100; ++i) {
        const auto key = "k" + std::to_string(i);
        auto first = one->send(key, PayAndWrap::name);
        auto second = other->send(key, PayAndWrap::name);
        EXPECT_EQ(status_of(get(std::move(first))), 201) << i;
        EXPECT_EQ(status_of(get(std::move(second))), 201) << i;
    }

    EXPECT_EQ(number("SELECT count(*) FROM payments"), 110);
    expect_no_error();
}

TEST_F(PostgresClaimTest, a_role_without_a_right_on_the_sequence_is_served_too) {
    (void)node();  // It migrates.
    run_sql(
        database.url(),
        "CREATE ROLE serves LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO serves"
    );
    {
        const auto one = NodesTest::node({}, database.url() + "?user=serves");
        send_some(*one, "k", 30);
        EXPECT_EQ(number("SELECT count(*) FROM payments"), 30);
        EXPECT_EQ(number("SELECT count(*) FROM pawl_key_registry WHERE id > 30"), 0);
    }
    run_sql(database.url(), "DROP OWNED BY serves; DROP ROLE serves");
}

}  // namespace
}  // namespace pawl::testing::claim_test
