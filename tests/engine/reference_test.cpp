#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <string>

namespace pawl::testing {
namespace {

// The references by which people find a key: those that an operation names, and its requests' ids.

class NamedOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "named_order";
    static constexpr Settings settings{.re_execute = true};
    using OrderSteps::OrderSteps;

    Next<Ordered, Refusal> order(Tx& tx, const Started& at) {
        tx.reference("order", at.key_id);
        const auto failed = tx.attempt([&] {
            tx.reference("order", "undone");
            static constexpr Statement<0> broken{
                "broken", "INSERT INTO orders (key_id, customer) VALUES (NULL, NULL)", {}};
            execute(tx, broken);
        });
        EXPECT_TRUE(failed);
        if (at.request.customer == "refused") return pawl::refuse(409, std::string{"refused"});
        if (at.request.customer == "wrong") tx.reference("Order", 1);
        return Ordered{at.request.customer, at.request.items, at.request.speed};
    }
    Next<Charged> keep(Tx& tx, const Ordered& at, const Paid& paid) {
        tx.reference("charge", paid.id);
        return Charged{at, paid.id};
    }
    using Flow = Steps<
        Atomic<&NamedOrder::order>,
        Foreign<
            Repeat::safe_with_key,
            &NamedOrder::charge,
            &NamedOrder::keep,
            &NamedOrder::keep_refusal>,
        Atomic<&NamedOrder::finish>>;
};

class ReferenceTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.add(NamedOrder{provider});
    }
    Answer ask(const std::string& request_id, const std::string& customer = "jane") {
        auto request =
            world.request<NamedOrder>("k", R"({"items":[],"customer":")" + customer + R"("})");
        request.request_id = request_id;
        std::promise<Answer> answered;
        world.engine->handle(std::move(request), [&](Answer answer) {
            answered.set_value(std::move(answer));
        });
        return World::get(answered.get_future());
    }
    // Those of the only key.
    std::string references() {
        return world.text(
            "SELECT coalesce(group_concat(name || '=' || id, ' '), '') FROM (SELECT t.name, t.id "
            "FROM pawl_key_references AS t JOIN pawl_key_registry AS r ON r.id = t.key_id "
            "ORDER BY t.name, t.id)"
        );
    }
    std::string key_id() {
        return std::to_string(world.number("SELECT max(id) FROM pawl_key_registry"));
    }
    Provider provider;
    World world;
};

TEST_F(ReferenceTest, a_key_has_what_its_phases_named_and_the_id_of_its_request) {
    EXPECT_EQ(status_of(ask("req-1")), 201);

    EXPECT_EQ(references(), "charge=ch_1 order=" + key_id() + " request=req-1");
}

TEST_F(ReferenceTest, a_request_whose_call_waits_is_found_by_what_was_named_before) {
    provider.next({Does::retry});

    EXPECT_EQ(why_of(ask("req-1")), Reason::provider_unavailable);

    EXPECT_EQ(references(), "order=" + key_id() + " request=req-1");
}

TEST_F(ReferenceTest, each_request_that_takes_the_key_over_is_added_and_no_replay) {
    provider.next({Does::retry});
    (void)ask("req-1");
    EXPECT_EQ(status_of(ask("req-2")), 201);
    EXPECT_TRUE(replayed(ask("req-3")));

    EXPECT_EQ(references(), "charge=ch_1 order=" + key_id() + " request=req-1 request=req-2");
}

TEST_F(ReferenceTest, a_refused_phase_leaves_only_the_id_of_the_request) {
    EXPECT_EQ(status_of(ask("req-1", "refused")), 409);

    EXPECT_EQ(references(), "request=req-1");
}

TEST_F(ReferenceTest, a_wrong_name_fails_the_phase_and_the_request_is_found_all_the_same) {
    EXPECT_EQ(why_of(ask("req-1", "wrong")), Reason::internal);

    EXPECT_EQ(references(), "request=req-1");
    EXPECT_NE(
        world.text("SELECT error FROM pawl_idempotency_keys").find("the reference 'Order'"),
        std::string::npos
    );
}

TEST_F(ReferenceTest, a_key_that_is_executed_again_keeps_the_references_of_its_first_life) {
    (void)ask("req-1");
    const auto first = key_id();
    world.clock.advance(72h);
    EXPECT_EQ(ops::Reaper(world.store, world.clock, {}).run_once(world.clock.now()).reaped, 1);

    EXPECT_EQ(status_of(ask("req-2")), 201);

    EXPECT_EQ(
        references(),
        "charge=ch_1 charge=ch_2 order=" + first + " order=" + key_id() +
            " request=req-1 request=req-2"
    );
    EXPECT_EQ(world.count("pawl_key_references WHERE key_id = " + first), 0);
}

TEST_F(ReferenceTest, a_transaction_without_a_key_has_nothing_to_find) {
    store::write_now(world.store, [&](store::Session& session) {
        detail::TxFactory::with_tx({session, base::system_random()}, [&](Tx& tx) {
            EXPECT_NO_THROW(tx.reference("order", 1));
        });
    });
}

}  // namespace
}  // namespace pawl::testing
