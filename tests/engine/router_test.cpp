#include <pawl/router.hpp>

#include "src/engine/router_impl.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::testing {
namespace {

// Providers by target, and what each says when it is asked.
struct Banks {
    std::map<std::string, Provider> all;
    std::map<std::string, std::optional<Inquiry<Paid, Refused402>>> desks;
    int inquiries{0};
    std::size_t charges() const {
        std::size_t sum = 0;
        for (const auto& [name, bank] : all) sum += bank.charges.size();
        return sum;
    }
    std::string asked_in_order() {
        std::string names;
        for (auto& [name, bank] : all) names += name + " " + std::to_string(bank.keys.size()) + " ";
        return names;
    }
};

class OrderRouted : public OrderSteps {
public:
    static constexpr std::string_view name = "order_routed";
    OrderRouted(Banks& banks, Router& router)
        : OrderSteps{banks.all["a"]}, banks_{&banks}, router_{&router} {}

    Routing route(const Ordered&) const { return {*router_, {2'000, "usd"}}; }
    Outcome<Paid, Refused402, TryNext<Refused402>> pay(RoutedCall& call, const Ordered& at) {
        const auto& provider = call.provider();
        auto& bank = banks_->all[provider.name];
        const auto key =
            provider.again == Repeat::never ? "no key " + std::to_string(++sent_) : call.key().text;
        const auto end = bank.charge(key);
        if (const auto* paid = std::get_if<Paid>(&end.value()))
            return Paid{provider.name + paid->id};
        if (const auto* refused = std::get_if<Refused402>(&end.value())) {
            if (at.customer == "hard") return *refused;
            return TryNext{*refused};
        }
        if (const auto* retry = std::get_if<Retry>(&end.value())) return *retry;
        if (const auto* stuck = std::get_if<Stuck>(&end.value())) return *stuck;
        return InDoubt{};
    }
    Inquiry<Paid, Refused402> inquire(InquiryCall& call, const Ordered&) {
        const auto& desk = banks_->desks[call.provider()->name];
        ++banks_->inquiries;
        if (desk) return *desk;
        return NotFound{.final_after = 600s};
    }
    using Flow = Steps<
        Atomic<&OrderRouted::write_order>,
        Routed<
            &OrderRouted::route,
            &OrderRouted::pay,
            &OrderRouted::inquire,
            &OrderRouted::keep_payment,
            &OrderRouted::keep_refusal>,
        Atomic<&OrderRouted::finish>>;

private:
    Banks* banks_;
    Router* router_;
    int sent_{0};
};

// "a" gets all, as long as it can; "b" and "c" are there for failures.
std::vector<pawl::Provider> three() {
    return {
        {.name = "a", .account = "1"},
        {.name = "b", .account = "1", .key_digits = 32, .share = 0},
        {.name = "c", .account = "1", .again = Repeat::never, .share = 0}};
}

class RouterTest : public ::testing::Test {
protected:
    using How = FailingStore::How;
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        use({.providers = three()});
    }
    void use(RouterOptions options) {
        router.reset();
        router = std::make_unique<Router>(std::move(options));
        world.add(OrderRouted{banks, *router});
    }
    void restart_with(RouterOptions options) {
        world.stop();
        world.restart();
        use(std::move(options));
    }
    void restart_with(std::vector<pawl::Provider> providers) {
        restart_with(RouterOptions{.providers = std::move(providers)});
    }
    static RouterOptions two_failures() {
        return {
            .providers = three(),
            .breaker_failures = 2,
            .breaker_first = 10min,
            .breaker_wait_max = 10min};
    }
    void a(std::vector<Does> does) { banks.all["a"].next(std::move(does)); }
    void b(std::vector<Does> does) { banks.all["b"].next(std::move(does)); }
    void c(std::vector<Does> does) { banks.all["c"].next(std::move(does)); }
    Answer ask(const std::string& key = "k") { return world.ask<OrderRouted>(key, order_of_jane); }
    std::string target() { return world.text("SELECT call_target FROM pawl_idempotency_keys"); }

    Banks banks;
    std::unique_ptr<Router> router;
    World world;
};

TEST_F(RouterTest, the_choice_is_committed_before_the_call) {
    std::string stored;
    banks.all["a"].before([&] { stored = target(); });

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(stored, "a 1");
}

TEST_F(RouterTest, a_repeat_goes_to_the_chosen_provider_after_another_order_of_the_list) {
    a({Does::doubt_charged});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    auto turned = three();
    std::swap(turned[0], turned[2]);
    turned[0].share = 5;
    restart_with(std::move(turned));
    world.clock.advance(31s);

    EXPECT_EQ(status_of(ask()), 201);

    EXPECT_EQ(banks.asked_in_order(), "a 2 ");
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(RouterTest, a_provider_that_was_removed_leaves_its_payments_to_a_person) {
    a({Does::doubt_charged});
    (void)ask();
    auto without = three();
    without.erase(without.begin());
    restart_with(std::move(without));
    world.clock.advance(31s);

    EXPECT_EQ(why_of(ask()), Reason::needs_attention);

    EXPECT_EQ(world.text("SELECT reason FROM pawl_attention"), "elsewhere");
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(RouterTest, another_account_of_the_provider_is_another_provider) {
    a({Does::doubt_charged});
    (void)ask();
    auto other = three();
    other[0].account = "2";
    restart_with(std::move(other));
    world.clock.advance(31s);

    EXPECT_EQ(why_of(ask()), Reason::needs_attention);
    EXPECT_EQ(banks.all["a"].keys.size(), 1U);
}

TEST_F(RouterTest, a_soft_decline_goes_on_to_the_next_provider_under_another_key) {
    a({Does::decline});

    EXPECT_EQ(status_of(ask()), 201);

    ASSERT_EQ(banks.all["b"].keys.size(), 1U);
    EXPECT_NE(banks.all["a"].keys[0].substr(0, 32), banks.all["b"].keys[0]);
    EXPECT_EQ(banks.all["b"].keys[0].size(), 32U);
    EXPECT_EQ(target(), "b 1");
    EXPECT_EQ(
        world.text("SELECT call_target || ' ' || proof || ' ' || detail FROM pawl_calls_not_made"),
        "a 1 refused Rejection"
    );
}

TEST_F(RouterTest, a_hard_decline_is_final) {
    a({Does::decline});
    EXPECT_EQ(status_of(world.ask<OrderRouted>("k", R"({"customer":"hard","items":[]})")), 402);
    EXPECT_EQ(banks.asked_in_order(), "a 1 ");
}

TEST_F(RouterTest, the_last_decline_is_kept_if_no_provider_is_left) {
    a({Does::decline});
    b({Does::decline});
    c({Does::decline});

    EXPECT_EQ(status_of(ask()), 402);
    EXPECT_EQ(banks.asked_in_order(), "a 1 b 1 c 1 ");
}

TEST_F(RouterTest, a_call_that_was_not_sent_goes_on_to_the_next_provider) {
    a({Does::retry});
    b({Does::retry});

    EXPECT_EQ(status_of(ask()), 201);

    EXPECT_EQ(banks.asked_in_order(), "a 1 b 1 c 1 ");
    EXPECT_EQ(world.count("pawl_calls_not_made WHERE proof = 'not-sent'"), 2);
}

TEST_F(RouterTest, if_none_was_reached_all_may_be_chosen_again) {
    a({Does::retry});
    b({Does::retry});
    c({Does::retry});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    EXPECT_EQ(target(), "c 1");  // For which it waits.

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 2 b 1 c 1 ");
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(RouterTest, a_call_that_was_not_sent_is_not_bound_to_a_provider_that_was_removed) {
    a({Does::retry});
    b({Does::retry});
    c({Does::retry});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    auto fewer = three();
    fewer.pop_back();
    restart_with(std::move(fewer));

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(RouterTest, a_try_that_did_nothing_proves_nothing_about_an_earlier_one) {
    a({Does::doubt_charged, Does::retry});
    (void)ask();
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    EXPECT_EQ(target(), "a 1");

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 3 ");
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(
    RouterTest, a_refusal_of_a_provider_that_forgets_refusals_proves_nothing_about_an_earlier_try
) {
    auto forgetful = three();
    forgetful[0].remembers_refusals = false;
    restart_with(std::move(forgetful));
    a({Does::doubt, Does::decline});
    (void)ask();
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 3 ");
}

TEST_F(RouterTest, a_refusal_after_a_doubt_is_proof_if_the_provider_remembers_it) {
    banks.all["a"].remembers_declines = true;
    a({Does::doubt, Does::decline});
    (void)ask();

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 2 b 1 ");
}

TEST_F(RouterTest, a_provider_without_keys_is_called_once_and_then_asked) {
    a({Does::decline});
    b({Does::decline});
    c({Does::doubt_charged});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    banks.desks["c"] = Paid{"ch_found"};

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 1 b 1 c 1 ");
    EXPECT_EQ(world.text("SELECT charge FROM payments"), "ch_found");
}

TEST_F(RouterTest, a_provider_that_can_not_be_asked_leaves_a_doubt_to_a_person) {
    auto mute = three();
    mute[2].has_inquiry = false;
    mute[2].share = 1'000'000;
    restart_with(std::move(mute));
    c({Does::doubt_charged});

    EXPECT_EQ(why_of(ask()), Reason::needs_attention);
    EXPECT_EQ(banks.charges(), 1U);
}

TEST_F(RouterTest, an_inquiry_that_is_final_leads_to_the_next_provider) {
    auto impatient = three();
    impatient[0].ask_after = 300s;
    restart_with(std::move(impatient));
    a({Does::doubt, Does::doubt});
    (void)ask();
    world.clock.advance(299s);
    (void)ask();
    world.clock.advance(1s);
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    EXPECT_EQ(banks.asked_in_order(), "a 2 ");
    EXPECT_EQ(world.number("SELECT calling FROM pawl_idempotency_keys"), 1);
    world.clock.advance(600s);

    // "a" is not refused: with its share of 1 it is chosen again, under another key.
    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.asked_in_order(), "a 3 ");
    EXPECT_NE(banks.all["a"].keys[2], banks.all["a"].keys[0]);
}

TEST_F(RouterTest, a_provider_that_refused_is_not_chosen_after_a_restart) {
    a({Does::decline});
    b({Does::retry});
    c({Does::retry});
    EXPECT_EQ(why_of(ask()), Reason::provider_unavailable);
    restart_with(three());

    EXPECT_EQ(status_of(ask()), 201);
    EXPECT_EQ(banks.all["a"].keys.size(), 1U);
}

TEST_F(RouterTest, a_call_that_ended_after_a_pause_says_nothing_of_its_provider) {
    restart_with(two_failures());
    a({Does::doubt, Does::doubt});
    banks.all["a"].before([&] { world.clock.advance(world.engine->options().lease); });
    for (const auto* key : {"one", "two"}) (void)ask(key);
    EXPECT_FALSE(router->health()[0].down_since);
}

TEST_F(RouterTest, a_provider_that_is_down_gets_no_new_payment_but_keeps_its_own) {
    restart_with(two_failures());
    a({Does::doubt, Does::doubt});
    (void)ask("one");
    (void)ask("two");
    ASSERT_TRUE(router->health()[0].down_since);

    EXPECT_EQ(status_of(ask("three")), 201);
    EXPECT_EQ(banks.all["b"].keys.size(), 1U);

    EXPECT_EQ(status_of(ask("one")), 201);
    EXPECT_EQ(banks.all["a"].keys.size(), 3U);
    EXPECT_FALSE(router->health()[0].down_since);
}

// In the transaction that begins the call at the next provider.
TEST_F(RouterTest, one_payment_is_made_however_the_change_of_provider_fails) {
    banks.all["a"].remembers_declines = true;
    for (const auto how : {How::refused, How::undone, How::in_doubt, How::in_doubt_undone}) {
        const auto key = "k" + std::to_string(static_cast<int>(how));
        const auto before = banks.charges();
        a({Does::decline});
        world.store.arm(2, how);
        auto answer = ask(key);
        world.store.arm(0, how);
        for (int i = 0; i < 20 && status_of(answer) == 0; ++i) {
            world.clock.advance(31s);
            answer = ask(key);
        }
        EXPECT_EQ(status_of(answer), 201) << key;
        EXPECT_EQ(banks.charges(), before + 1) << key;
    }
    EXPECT_TRUE(banks.all["a"].charges.empty());
}

TEST_F(RouterTest, a_person_s_word_lets_any_provider_be_chosen) {
    a({Does::stuck});
    banks.desks["a"] = Undecided{};
    EXPECT_EQ(why_of(ask()), Reason::needs_attention);
    auto promise = std::make_shared<std::promise<Answer>>();
    world.engine->settle(
        {.key_id = world.number("SELECT key_id FROM pawl_attention"),
         .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
         .recovery_point = "ordered",
         .kind = engine::Settlement::Kind::did_not_happen,
         .by = "ann"},
        [promise](Answer answer) { promise->set_value(std::move(answer)); }
    );

    EXPECT_EQ(status_of(World::get(promise->get_future())), 201);
    EXPECT_EQ(banks.charges(), 1U);
}

// Each provider's own memory counts, in the attempt of the first call and in later ones.
TEST_F(RouterTest, a_call_is_repeated_as_long_as_its_own_provider_knows_the_key) {
    struct {
        const char* name;
        std::chrono::hours age;
        bool repeated;
    } const cases[] = {{"a", 1h, true}, {"a", 2h, false}, {"b", 29h, true}, {"b", 30h, false}};
    for (const auto& of : cases) {
        SCOPED_TRACE(of.name + std::to_string(of.age.count()));
        auto providers = three();
        for (auto& provider : providers) {
            provider.share = provider.name == of.name ? 1 : 0;
            provider.has_inquiry = false;
        }
        providers[0].key_lifetime = 2h;  // The operation has 20 h.
        providers[1].key_lifetime = 30h;
        restart_with(std::move(providers));
        const auto key = of.name + std::to_string(of.age.count());
        auto& bank = banks.all[of.name];
        const auto before = bank.keys.size();
        bank.next({Does::doubt_charged});
        EXPECT_EQ(why_of(ask(key)), Reason::provider_unavailable);
        world.clock.advance(of.age);

        const auto again = ask(key);

        EXPECT_EQ(bank.keys.size() - before, of.repeated ? 2U : 1U);
        if (of.repeated) {
            EXPECT_EQ(status_of(again), 201);
        } else {
            EXPECT_EQ(why_of(again), Reason::needs_attention);
        }
    }
}

// What was asked or paid elsewhere in the lost time has no record: neither a call nor an inquiry at
// one provider proves anything about the others.
TEST_F(RouterTest, after_a_restore_a_payment_waits_for_a_person) {
    auto providers = three();
    providers[0].ask_after = 0s;
    restart_with(std::move(providers));
    a({Does::doubt, Does::doubt});
    banks.desks["a"] = NotFound{.final_after = 600s};
    EXPECT_EQ(why_of(ask("called")), Reason::provider_unavailable);
    EXPECT_EQ(why_of(ask("asked about")), Reason::provider_unavailable);
    world.clock.advance(31s);
    EXPECT_EQ(why_of(ask("asked about")), Reason::provider_unavailable);
    ASSERT_EQ(banks.inquiries, 1);
    world.clock.advance(2h);
    const auto now = world.clock.now();
    world.engine->set_restore_gaps(
        {{.since = now - 1h,
          .keys_until = now + 72h,
          .last_key_id = world.number("SELECT max(id) FROM pawl_key_registry"),
          .opened = now}}
    );

    for (const auto* key : {"called", "asked about", "new"})
        EXPECT_EQ(why_of(ask(key)), Reason::needs_attention) << key;

    EXPECT_EQ(world.count("pawl_attention WHERE reason = 'restored'"), 3);
    EXPECT_EQ(banks.asked_in_order(), "a 2 ") << "before the backup";
    EXPECT_EQ(banks.inquiries, 1) << "before the backup";
    world.clock.advance(73h);
    EXPECT_EQ(status_of(ask("later")), 201);
}

TEST(RouterImpl, at_the_end_of_a_pause_one_of_two_payments_is_the_probe) {
    Router::Impl router{
        {.providers = three(),
         .breaker_failures = 1,
         .breaker_first = 10min,
         .breaker_wait_max = 10min}};
    const auto* const a = router.find("a 1");
    const core::SteadyTime begin{1h};
    const auto chosen = [&](core::SteadyTime now) {
        return router.choose({2'000, "usd"}, {}, now, 0)->name;
    };
    ASSERT_EQ(chosen(begin), "a");
    router.ended(*a, {.error = "no answer", .now = begin});
    EXPECT_EQ(chosen(begin + 9min), "b");
    EXPECT_EQ(chosen(begin + 10min), "a") << "the probe";
    EXPECT_EQ(chosen(begin + 10min), "b");
    EXPECT_EQ(chosen(begin + 11min), "b") << "the probe has not ended";

    router.ended(*a, {.answered = true, .now = begin + 11min});
    EXPECT_EQ(chosen(begin + 11min), "a");
    EXPECT_EQ(chosen(begin + 11min), "a");
}

TEST(RouterOptions, name_what_is_wrong_with_a_list) {
    const auto problem = [](std::vector<pawl::Provider> providers) {
        return RouterOptions{.providers = std::move(providers)}.problem().value_or("none");
    };
    EXPECT_EQ(problem({}), "providers has 0 entries: 1 to 100");
    EXPECT_EQ(problem({{.name = ""}}), "the provider \"\" has no name");
    EXPECT_EQ(
        problem({{.name = "a"}, {.name = "a"}}), "the provider \"a\" stands twice in the list"
    );
    EXPECT_EQ(
        problem({{.name = "a", .key_digits = 31}}),
        "the provider \"a\" has key_digits = 31: 32 to 64"
    );
    EXPECT_EQ(
        problem({{.name = "a", .again = Repeat::safe}}),
        "the provider \"a\" has again = Repeat::safe: a payment is safe_with_key or never"
    );
    EXPECT_EQ(problem({{.name = "a", .share = -1}}).substr(0, 24), "the provider \"a\" has sha");
    EXPECT_EQ(problem({{.name = "a", .account = "1"}, {.name = "a", .account = "2"}}), "none");
    EXPECT_THROW(Router{RouterOptions{}}, std::invalid_argument);
}

}  // namespace
}  // namespace pawl::testing
