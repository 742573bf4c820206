#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Flows of every shape that compiles, with a doubt in each call, so that each point is also read
// from the database.

struct Empty {};

// Two foreign calls in a row; the second keeper has two targets.
class TwoCalls {
public:
    static constexpr std::string_view name = "two_calls";
    explicit TwoCalls(Provider& provider) : provider_{&provider} {}
    using Started = pawl::Started<Empty>;
    struct Asked {
        static constexpr std::string_view name = "asked";
        int tries{};
    };
    struct Half {
        static constexpr std::string_view name = "half";
        std::string first;
    };
    struct Cheap {
        static constexpr std::string_view name = "cheap";
        std::string first;
    };
    struct Dear {
        static constexpr std::string_view name = "dear";
        std::string first;
        std::string second;
    };
    struct Price {
        int cents{};
    };
    Next<Asked> begin(Tx&, const Started&) { return Asked{1}; }
    Outcome<Paid, Refused402> first(KeyedCall& call, const Asked&) {
        return provider_->charge(call.key().text);
    }
    Next<Half> keep_first(Tx&, const Asked&, const Paid& paid) { return Half{paid.id}; }
    Finish keep_no(Tx&, const Asked&, const Refused402& no) { return answer(402, no); }
    Outcome<Price> second(Call&, const Half& at) {
        provider_->keys.emplace_back("second");
        if (provider_->keys.size() % 2 == 1) return InDoubt{};
        return Price{at.first == "ch_1" ? 100 : 1};
    }
    Next<Cheap, Dear> keep_price(Tx&, const Half& at, const Price& price) {
        if (price.cents < 50) return Cheap{at.first};
        return Dear{at.first, std::to_string(price.cents)};
    }
    Finish cheap(Tx&, const Cheap& at) { return answer(200, at); }
    Finish dear(Tx&, const Dear& at) { return answer(201, at); }
    using Flow = Steps<
        Atomic<&TwoCalls::begin>,
        Foreign<Repeat::safe_with_key, &TwoCalls::first, &TwoCalls::keep_first, &TwoCalls::keep_no>,
        Foreign<Repeat::safe, &TwoCalls::second, &TwoCalls::keep_price>,
        Atomic<&TwoCalls::cheap>,
        Atomic<&TwoCalls::dear>>;

private:
    Provider* provider_;
};
static_assert(Operation<TwoCalls>);

// A template that begins with a foreign call.
template <Repeat Again>
class CallFirst {
public:
    static constexpr std::string_view name = "call_first";
    explicit CallFirst(Provider& provider) : provider_{&provider} {}
    using Started = pawl::Started<OrderRequest>;
    Outcome<Paid, Refused402> charge(KeyedCall& call, const Started& at) const {
        return at.request.customer == "joe" ? Outcome<Paid, Refused402>{Refused402{"joe"}}
                                            : provider_->charge(call.key().text);
    }
    Finish keep(Tx&, const Started& at, const Paid& paid) noexcept(false) {
        return answer(
            201,
            OrderSteps::Charged{{at.request.customer, at.request.items, at.request.speed}, paid.id}
        );
    }
    Finish refuse(Tx&, const Started&, const Refused402& no) { return answer(402, no); }
    using Flow = Steps<Foreign<Again, &CallFirst::charge, &CallFirst::keep, &CallFirst::refuse>>;

private:
    Provider* provider_;
};
static_assert(Operation<CallFirst<Repeat::safe_with_key>>);

// A deploy renamed a point; keys at the old name go on.
class RenamedOrder : public OrderSteps {
public:
    static constexpr std::string_view name = "order";
    using OrderSteps::OrderSteps;
    struct Bought {
        static constexpr std::string_view name = "bought";
        std::string customer;
        std::vector<Item> items{};
        std::optional<Speed> speed{};
    };
    Next<Bought> write(Tx&, const Started& at) {
        return Bought{at.request.customer, at.request.items, at.request.speed};
    }
    Outcome<Paid> pay(KeyedCall& call, const Bought&) {
        const auto outcome = provider_->charge(call.key().text);
        if (const auto* paid = std::get_if<Paid>(&outcome.value())) return *paid;
        return InDoubt{};
    }
    Finish keep(Tx&, const Bought& at, const Paid& paid) {
        return answer(201, Charged{{at.customer, at.items, at.speed}, paid.id});
    }
    using Flow = Steps<
        Atomic<&RenamedOrder::write>,
        Foreign<Repeat::safe_with_key, &RenamedOrder::pay, &RenamedOrder::keep>>;
    using RenamedPoints = pawl::RenamedPoints<Renamed<"ordered", Bought>, Removed<"charged">>;
};
static_assert(Operation<RenamedOrder>);

class FlowTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
    }
    Provider provider;
    World world;
};

TEST_F(FlowTest, points_of_nested_values_survive_a_round_trip) {
    world.add(Order{provider});
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.restart();
    world.add(Order{provider});

    const auto answer = world.ask_until_settled<Order>("k", order_of_jane);

    EXPECT_EQ(
        body_of(answer),
        R"({"order":{"customer":"jane","items":[{"name":"pin","count":2},{"name":"cap","count":1}],"speed":"fast"},)"
        R"("charge":"ch_1"})"
    );
}

TEST_F(FlowTest, optionals_and_empty_lists_survive_a_round_trip) {
    world.add(Order{provider});
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", R"({"customer":"jane","items":[]})");

    const auto answer = world.ask_until_settled<Order>("k", R"({"customer":"jane","items":[]})");

    EXPECT_EQ(status_of(answer), 201);
    EXPECT_NE(body_of(answer).find(R"("items":[])"), std::string::npos) << body_of(answer);
}

TEST_F(FlowTest, two_calls_in_a_row_each_survive_a_doubt) {
    world.add(TwoCalls{provider});
    provider.next({Does::doubt_charged});

    const auto answer = world.ask_until_settled<TwoCalls>("k");

    EXPECT_EQ(status_of(answer), 201);
    EXPECT_EQ(body_of(answer), R"({"first":"ch_1","second":"100"})");
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(FlowTest, a_keeper_chooses_among_its_targets) {
    world.add(TwoCalls{provider});
    provider.charges["another"] = "ch_1";

    EXPECT_EQ(status_of(world.ask_until_settled<TwoCalls>("k")), 200);
}

TEST_F(FlowTest, an_operation_may_begin_with_a_call) {
    world.add(CallFirst<Repeat::safe_with_key>{provider});
    provider.next({Does::doubt_charged});

    const auto answer =
        world.ask_until_settled<CallFirst<Repeat::safe_with_key>>("k", order_of_jane);

    EXPECT_EQ(status_of(answer), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(
        status_of(
            world.ask<CallFirst<Repeat::safe_with_key>>("j", R"({"customer":"joe","items":[]})")
        ),
        402
    );
}

TEST_F(FlowTest, a_key_at_the_old_name_of_a_point_goes_on_after_the_deploy) {
    world.add(Order{provider});
    provider.next({Does::doubt_charged});
    (void)world.ask<Order>("k", order_of_jane);
    world.restart();
    world.add(RenamedOrder{provider});

    EXPECT_EQ(status_of(world.ask_until_settled<RenamedOrder>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

}  // namespace
}  // namespace pawl::testing
