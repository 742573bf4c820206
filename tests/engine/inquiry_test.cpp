#include <pawl/inquiry.hpp>

#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <thread>

namespace pawl::testing {
namespace {

// What the provider says when it is asked; the last word stays.
struct Desk {
    std::deque<Inquiry<Paid, Refused402>> says{NotFound{.final_after = 600s}};
    int asked{0};
    std::string key;
    bool throws{false};

    Inquiry<Paid, Refused402> inquire(InquiryCall& call) {
        ++asked;
        key = call.key().text;
        if (throws) throw std::runtime_error{"the desk is closed" + not_utf8};
        auto now = says.front();
        if (says.size() > 1) says.pop_front();
        return now;
    }
};

class AskedSteps : public OrderSteps {
public:
    AskedSteps(Provider& provider, Desk& desk) : OrderSteps{provider}, desk_{&desk} {}
    Inquiry<Paid, Refused402> inquire(InquiryCall& call, const Ordered&) {
        return desk_->inquire(call);
    }

private:
    Desk* desk_;
};

// An order whose call is never repeated, and can be asked about.
class OrderAsked : public AskedSteps {
public:
    static constexpr std::string_view name = "order_asked";
    using AskedSteps::AskedSteps;
    using Flow = Steps<
        Atomic<&OrderAsked::write_order>,
        Foreign<
            Repeat::never,
            &OrderAsked::charge_once,
            &OrderAsked::inquire,
            &OrderAsked::keep_payment,
            &OrderAsked::keep_refusal>,
        Atomic<&OrderAsked::finish>>;
};

// The same with a key, which the provider forgets.
class OrderAskedLate : public AskedSteps {
public:
    static constexpr std::string_view name = "order_asked_late";
    using AskedSteps::AskedSteps;
    using Flow = Steps<
        Atomic<&OrderAskedLate::write_order>,
        Foreign<
            Repeat::safe_with_key,
            &OrderAskedLate::charge,
            &OrderAskedLate::keep_payment,
            &OrderAskedLate::inquire,
            &OrderAskedLate::keep_refusal>,
        Atomic<&OrderAskedLate::finish>>;
};

class InquiryTest : public ::testing::Test {
protected:
    using How = FailingStore::How;
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(OrderAsked{provider, desk});
        world.add(OrderAskedLate{provider, desk});
    }
    std::string noted(const std::string& column) {
        return world.text("SELECT CAST(" + column + " AS TEXT) FROM pawl_inquiries");
    }
    Provider provider;
    Desk desk;
    World world;
};

TEST_F(InquiryTest, a_call_in_doubt_that_the_provider_knows_is_kept_at_once) {
    desk.says = {Paid{"ch_found"}};
    provider.next({Does::doubt_charged});

    const auto answer = world.ask<OrderAsked>("k", order_of_jane);
    EXPECT_NE(body_of(answer).find("ch_found"), std::string::npos);

    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(world.text("SELECT charge FROM payments"), "ch_found");
    EXPECT_EQ(world.count("pawl_attention"), 0);
}

TEST_F(InquiryTest, a_refusal_that_the_provider_knows_is_kept) {
    desk.says = {Refused402{"no funds"}};
    provider.next({Does::doubt});

    EXPECT_EQ(status_of(world.ask<OrderAsked>("k", order_of_jane)), 402);
}

TEST_F(InquiryTest, a_call_that_is_not_found_is_made_anew_only_when_that_is_final) {
    provider.next({Does::doubt});
    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    world.clock.advance(599s);
    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    EXPECT_EQ(provider.keys.size(), 1U);
    world.clock.advance(1s);

    EXPECT_EQ(status_of(world.ask<OrderAsked>("k", order_of_jane)), 201);

    EXPECT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(desk.asked, 3);
    EXPECT_EQ(noted("times"), "3");
    EXPECT_EQ(
        world.text("SELECT proof FROM pawl_calls_not_made WHERE generation = 0"), "not-found"
    );
    EXPECT_EQ(world.number("SELECT generation FROM pawl_idempotency_keys"), 1);
}

// The next call was not begun, so the inquiry is about the one before it.
TEST_F(InquiryTest, an_inquiry_whose_next_call_could_not_be_begun_counts_for_its_own_call) {
    provider.next({Does::doubt});
    (void)world.ask<OrderAsked>("k", order_of_jane);
    world.clock.advance(600s);
    world.store.arm(2, FailingStore::How::undone, FailingStore::Kind::constraint);

    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(world.number("SELECT generation FROM pawl_idempotency_keys"), 0);
    EXPECT_EQ(noted("generation"), "0");
    EXPECT_EQ(noted("times"), "2");
}

// `never` is called again only after proof; its second call has the mark of its own.
TEST_F(InquiryTest, the_second_call_may_be_in_doubt_as_the_first) {
    provider.next({Does::doubt, Does::doubt_charged});
    (void)world.ask<OrderAsked>("k", order_of_jane);
    world.clock.advance(600s);
    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    EXPECT_EQ(noted("generation"), "1");
    EXPECT_EQ(noted("times"), "1");
    world.clock.advance(599s);
    (void)world.ask<OrderAsked>("k", order_of_jane);
    desk.says = {Paid{"ch_found"}};

    EXPECT_EQ(status_of(world.ask<OrderAsked>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.keys.size(), 2U);
}

TEST_F(InquiryTest, a_person_is_asked_with_the_last_answer_if_no_answer_decides) {
    desk.says = {Undecided{"its list is late"}};
    provider.next({Does::doubt});
    (void)world.ask<OrderAsked>("k", order_of_jane);
    world.clock.advance(59min);
    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    world.clock.advance(1min);

    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(world.text("SELECT reason FROM pawl_attention"), "in-doubt");
    EXPECT_NE(
        world.text("SELECT detail FROM pawl_attention").find("its list is late"), std::string::npos
    );
    EXPECT_EQ(noted("answer"), "undecided");
    EXPECT_EQ(noted("times"), "3");
    EXPECT_EQ(provider.keys.size(), 1U);
}

// It was kept as the result, whatever its amount was (issue 39, part 3).
TEST_F(InquiryTest, another_thing_than_the_call_asked_for_is_a_persons_at_once) {
    desk.says = {Stuck{"amount is 1, and not 2000"}};
    provider.next({Does::doubt});

    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_NE(
        world.text("SELECT detail FROM pawl_attention").find("amount is 1, and not 2000"),
        std::string::npos
    );
    EXPECT_EQ(noted("answer"), "undecided");
    EXPECT_EQ(world.count("payments"), 0);
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(desk.asked, 1);
}

TEST_F(InquiryTest, an_inquiry_that_throws_decides_nothing) {
    desk.throws = true;
    provider.next({Does::doubt});

    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    EXPECT_NE(noted("detail").find("the desk is closed"), std::string::npos);
}

// Also a key that the provider has forgotten is asked about; from then on it is called under this
// key no more, even if its age is within the memory again.
TEST_F(InquiryTest, a_key_that_may_be_forgotten_is_asked_about_under_that_key) {
    provider.next({Does::doubt_charged});
    (void)world.ask<OrderAskedLate>("k", order_of_jane);
    world.clock.advance(20h);
    EXPECT_EQ(why_of(world.ask<OrderAskedLate>("k", order_of_jane)), Reason::provider_unavailable);
    EXPECT_EQ(desk.key, provider.keys.front());
    EXPECT_EQ(desk.asked, 1);
    world.execute("UPDATE pawl_idempotency_keys SET called_at = last_run_at");
    (void)world.ask<OrderAskedLate>("k", order_of_jane);
    EXPECT_EQ(provider.keys.size(), 1U);
    desk.says = {Paid{provider.charges.begin()->second}};

    EXPECT_EQ(status_of(world.ask_until_settled<OrderAskedLate>("k", order_of_jane)), 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(InquiryTest, a_keyed_call_that_was_not_made_gets_another_key) {
    provider.next({Does::doubt});
    (void)world.ask<OrderAskedLate>("k", order_of_jane);
    world.clock.advance(20h);
    (void)world.ask<OrderAskedLate>("k", order_of_jane);
    world.clock.advance(600s);

    EXPECT_EQ(status_of(world.ask<OrderAskedLate>("k", order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_NE(provider.keys[0], provider.keys[1]);
}

TEST_F(InquiryTest, a_stored_error_is_asked_about_before_a_person_is) {
    provider.next({Does::stuck});

    EXPECT_EQ(why_of(world.ask<OrderAskedLate>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(world.text("SELECT reason FROM pawl_attention"), "stuck");
    EXPECT_EQ(noted("answer"), "not-found");

    provider.next({Does::stuck});
    desk.says = {Paid{"ch_found"}};
    EXPECT_EQ(status_of(world.ask<OrderAskedLate>("other", order_of_jane)), 201);
}

TEST_F(InquiryTest, an_unrecorded_inquiry_proves_nothing) {
    provider.next({Does::doubt});
    // T1, then the note of the inquiry.
    world.store.arm(2, How::undone);
    (void)world.ask<OrderAsked>("k", order_of_jane);
    EXPECT_EQ(world.count("pawl_inquiries"), 0);
    world.clock.advance(600s);

    EXPECT_EQ(why_of(world.ask<OrderAsked>("k", order_of_jane)), Reason::provider_unavailable);
    EXPECT_EQ(provider.keys.size(), 1U);
    world.clock.advance(600s);
    EXPECT_EQ(status_of(world.ask<OrderAsked>("k", order_of_jane)), 201);
}

// Each way in which the transaction can fail that begins the second call.
TEST_F(InquiryTest, one_call_follows_however_its_begin_fails) {
    for (const auto how : {How::refused, How::undone, How::in_doubt, How::in_doubt_undone}) {
        const auto key = "k" + std::to_string(static_cast<int>(how));
        const auto charged = provider.charges.size();
        provider.next({Does::doubt});
        (void)world.ask<OrderAsked>(key, order_of_jane);
        world.clock.advance(600s);
        // The take-over, then the begin.
        world.store.arm(2, how);
        (void)world.ask<OrderAsked>(key, order_of_jane);
        world.store.arm(0, how);

        for (int i = 0; i < 40 && world.count("payments") <= std::int64_t(charged); ++i) {
            world.clock.advance(310s);
            std::this_thread::sleep_for(100ms);  // A begin that failed is tried again after 1 s.
            (void)world.ask<OrderAsked>(key, order_of_jane);
        }
        EXPECT_EQ(status_of(world.ask<OrderAsked>(key, order_of_jane)), 201) << key;
        EXPECT_EQ(provider.charges.size(), charged + 1) << key;
    }
}

TEST_F(InquiryTest, the_reaper_removes_what_was_noted) {
    provider.next({Does::doubt});
    (void)world.ask<OrderAsked>("k", order_of_jane);
    world.clock.advance(600s);
    (void)world.ask<OrderAsked>("k", order_of_jane);
    ASSERT_EQ(world.count("pawl_inquiries"), 1);
    ASSERT_EQ(world.count("pawl_calls_not_made"), 1);
    world.clock.advance(24h * 10);

    (void)ops::Reaper{world.store, world.clock, {}}.run_once(world.clock.now());

    EXPECT_EQ(world.count("pawl_idempotency_keys"), 0);
    EXPECT_EQ(world.count("pawl_inquiries"), 0);
    EXPECT_EQ(world.count("pawl_calls_not_made"), 0);
}

}  // namespace
}  // namespace pawl::testing
