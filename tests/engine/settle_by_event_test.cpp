#include "src/ops/settle_by_event.hpp"

#include <pawl/provider_event.hpp>
#include <pawl/service.hpp>

#include "src/store/blocking.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <string>

namespace pawl::testing {
namespace {

std::optional<Paid> paid_by(const OrderSteps::Ordered& at, const ProviderEvent& event) {
    if (event.type != "charge.succeeded" || event.object.find(at.customer) == std::string::npos)
        return std::nullopt;
    return Paid{"ch_of_" + event.id};
}

// Called once; an event may settle it.
class OrderTold : public OrderSteps {
public:
    static constexpr std::string_view name = "order_told";
    using OrderSteps::OrderSteps;
    std::optional<Paid> settled_by(const Ordered& at, const ProviderEvent& event) const {
        return paid_by(at, event);
    }
    std::string call_target(const Ordered&) const { return "bank one"; }
    using Flow = Steps<
        Atomic<&OrderTold::write_order>,
        Foreign<
            Repeat::never,
            &OrderTold::charge_once,
            &OrderTold::keep_payment,
            &OrderTold::keep_refusal>,
        Atomic<&OrderTold::finish>>;
};
class KeyedOrderTold : public OrderTold {
public:
    static constexpr std::string_view name = "keyed_order_told";
    using OrderTold::OrderTold;
    using Flow = Steps<
        Atomic<&KeyedOrderTold::write_order>,
        Foreign<
            Repeat::safe_with_key,
            &KeyedOrderTold::charge,
            &KeyedOrderTold::keep_payment,
            &KeyedOrderTold::keep_refusal>,
        Atomic<&KeyedOrderTold::finish>>;
};
// The same without a rule.
class OrderUntold : public OrderSteps {
public:
    static constexpr std::string_view name = "order_untold";
    using OrderSteps::OrderSteps;
    using Flow = Steps<
        Atomic<&OrderUntold::write_order>,
        Foreign<
            Repeat::never,
            &OrderUntold::charge_once,
            &OrderUntold::keep_payment,
            &OrderUntold::keep_refusal>,
        Atomic<&OrderUntold::finish>>;
};

// Of the call that `reference` names, or of a call key.
ProviderEvent event_of(const std::string& reference, const std::string& call_key = "") {
    return {
        .provider = "bank",
        .id = "evt_1",
        .type = "charge.succeeded",
        .object = R"({"customer":"jane"})",
        .call_key = call_key,
        .reference = reference};
}

class SettleByEventTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(OrderTold{provider});
        world.add(KeyedOrderTold{provider});
        world.add(OrderUntold{provider});
    }
    bool settle_by(const ProviderEvent& event) {
        return store::write_now(world.store, [&](store::Session& session) {
            return ops::settle_by(*world.engine, session, event);
        });
    }
    template <class Op>
    void into_doubt(const std::string& key = "k") {
        provider.next({std::is_same_v<Op, KeyedOrderTold> ? Does::stuck : Does::doubt_charged});
        EXPECT_EQ(why_of(world.ask<Op>(key, order_of_jane)), Reason::needs_attention);
    }
    std::string decision() {
        return world.text("SELECT coalesce(settlement, 'none') FROM pawl_attention");
    }
    Provider provider;
    World world;
};

TEST_F(SettleByEventTest, a_call_without_key_is_settled_by_its_reference_and_the_rule) {
    into_doubt<OrderTold>();

    EXPECT_TRUE(settle_by(event_of("k")));
    EXPECT_EQ(world.complete().settled, 1);

    const auto answer = world.ask<OrderTold>("k", order_of_jane);
    EXPECT_EQ(status_of(answer), 201);
    EXPECT_NE(body_of(answer).find("ch_of_evt_1"), std::string::npos);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(
        world.text("SELECT group_concat(actor || ': ' || action || ': ' || detail, '; ') "
                   "FROM pawl_audit_log"),
        "webhook bank evt_1: settle happened: the event charge.succeeded; webhook bank evt_1: "
        "settled happened: Paid"
    );
}

TEST_F(SettleByEventTest, a_keyed_call_is_settled_by_its_call_key_alone) {
    into_doubt<KeyedOrderTold>();
    const auto sent = provider.keys.at(0);

    EXPECT_FALSE(settle_by(event_of("k", std::string(64, 'a'))));
    EXPECT_FALSE(settle_by(event_of("k", sent.substr(0, 31))));
    EXPECT_EQ(decision(), "none");
    EXPECT_TRUE(settle_by(event_of("", sent.substr(0, 32))));
    EXPECT_EQ(world.complete().settled, 1);

    EXPECT_EQ(status_of(world.ask<KeyedOrderTold>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.keys.size(), 1U);
}

TEST_F(SettleByEventTest, nothing_is_settled_without_a_rule_or_by_an_event_that_proves_nothing) {
    into_doubt<OrderUntold>();
    EXPECT_FALSE(settle_by(event_of("k")));
    into_doubt<OrderTold>("k2");
    auto other = event_of("k2");
    other.object = R"({"customer":"joe"})";
    EXPECT_FALSE(settle_by(other));
    other = event_of("k2");
    other.type = "charge.failed";
    EXPECT_FALSE(settle_by(other));
    EXPECT_FALSE(settle_by(event_of("k3")));
    EXPECT_FALSE(settle_by(event_of("")));
    other = event_of("k2");
    other.target = "bank two";
    EXPECT_FALSE(settle_by(other));
    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_attention WHERE settlement IS NULL"), 2);

    other.target = "bank one";
    EXPECT_TRUE(settle_by(other));
}

TEST_F(SettleByEventTest, the_second_event_and_an_event_after_a_decision_change_nothing) {
    into_doubt<OrderTold>();
    EXPECT_TRUE(settle_by(event_of("k")));
    auto second = event_of("k");
    second.id = "evt_2";

    EXPECT_FALSE(settle_by(second));
    EXPECT_EQ(world.text("SELECT settled_by FROM pawl_attention"), "webhook bank evt_1");
    EXPECT_EQ(world.complete().settled, 1);
    EXPECT_FALSE(settle_by(second));
    EXPECT_EQ(world.number("SELECT count(*) FROM payments"), 1);
}

// A person declared the first call as not made, so a reference may be of either call.
TEST_F(SettleByEventTest, a_reference_does_not_settle_a_second_call) {
    into_doubt<OrderTold>();
    world.execute("UPDATE pawl_idempotency_keys SET generation = 1");

    EXPECT_FALSE(settle_by(event_of("k")));
}

TEST_F(SettleByEventTest, a_kept_result_is_stronger_than_an_event) {
    into_doubt<OrderTold>();
    world.execute("UPDATE pawl_attention SET result_name = 'Paid', result = '{\"id\":\"ch_1\"}'");

    EXPECT_FALSE(settle_by(event_of("k")));
}

}  // namespace
}  // namespace pawl::testing
