#include "tests/engine/crash.hpp"

namespace pawl::testing {
namespace {

// The process is killed at every fault point that an operation reaches, and again at every point
// that the recovery reaches; then a client, or the completer, finishes the request.

template <class Op>
struct Shop {
    Shop() {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        world.add(Op{provider});
    }
    explicit Shop(const Image& image) : world{{}, image.file} {
        provider.charges = image.charges;
        provider.keys = image.keys;
        world.clock.set(image.now);
        world.add(Op{provider});
    }
    Provider provider;
    World world;
};

// As a patient client. Keys on the attention list stay there.
template <class Op>
Answer by_client(Shop<Op>& shop) {
    Answer answer;
    for (int i = 0; i < 5; ++i) {
        answer = shop.world.template ask<Op>("k", order_of_jane);
        if (std::holds_alternative<StoredResponse>(answer) ||
            why_of(answer) == Reason::needs_attention)
            break;
        shop.world.clock.advance(30s);
    }
    return answer;
}

// The client asks only after the completer has run.
template <class Op>
Answer by_completer(Shop<Op>& shop) {
    for (int i = 0; i < 5 && shop.world.count("pawl_idempotency_keys WHERE status = 'open'") > 0;
         ++i) {
        shop.world.clock.advance(1min);
        (void)shop.world.complete();
    }
    return by_client(shop);
}

template <class Op>
using Recover = Answer (*)(Shop<Op>&);

// Runs `recover` on `from`, or on a fresh shop; returns an image for each fault point reached.
template <class Op>
std::vector<Image> images_of(
    Recover<Op> recover, const Image* from, const std::filesystem::path& folder
) {
    const auto shop =
        from != nullptr ? std::make_unique<Shop<Op>>(*from) : std::make_unique<Shop<Op>>();
    Camera camera{shop->world, shop->provider, folder};
    (void)recover(*shop);
    return camera.images();
}

// Each kill alone, and each followed by each second kill in the recovery.
template <class Op, class Check>
int for_each_crash(Recover<Op> recover, Check check) {
    const TempFolder folder;
    int worlds = 0;
    const auto first = images_of<Op>(&by_client<Op>, nullptr, folder.path() / "first");
    for (const auto& image : first) {
        const auto again = images_of<Op>(recover, &image, image.file.parent_path() / "again");
        for (const auto& second : again) {
            SCOPED_TRACE("killed at " + image.point + ", then at " + second.point);
            Shop<Op> shop{second};
            check(shop, recover(shop));
            ++worlds;
        }
    }
    return worlds;
}

template <class Op>
void check_one_effect(Shop<Op>& shop, const Answer& answer) {
    EXPECT_EQ(status_of(answer), 201);
    EXPECT_NE(body_of(answer).find(R"("charge":"ch_1")"), std::string::npos) << body_of(answer);
    EXPECT_EQ(shop.provider.charges.size(), 1U);
    EXPECT_EQ(
        std::set<std::string>(shop.provider.keys.begin(), shop.provider.keys.end()).size(), 1U
    );
    EXPECT_EQ(shop.world.count("orders"), 1);
    EXPECT_EQ(shop.world.count("payments"), 1);
    EXPECT_EQ(shop.world.count("pawl_jobs"), 1);
    EXPECT_EQ(shop.world.count("pawl_key_registry"), 1);
    EXPECT_EQ(shop.world.count("pawl_idempotency_keys WHERE status = 'finished'"), 1);
    EXPECT_EQ(body_of(shop.world.template ask<Op>("k", order_of_jane)), body_of(answer));
}

TEST(CrashTest, an_order_passes_every_point_that_is_meant_to_be_killed_at) {
    const TempFolder folder;

    std::vector<std::string> points;
    for (const auto& image : images_of<Order>(&by_client<Order>, nullptr, folder.path()))
        points.push_back(image.point);

    EXPECT_EQ(
        points,
        (std::vector<std::string>{
            "engine.claim.before 1",
            "engine.phase.after 1",
            "sqlite.commit.before 1",
            "sqlite.commit.after 1",
            "engine.claim.after 1",
            "engine.call.before 1",
            "engine.call.after 1",
            "engine.keep.before 1",
            "engine.keep.inside 1",
            "engine.phase.after 2",
            "sqlite.commit.before 2",
            "sqlite.commit.after 2",
            "engine.keep.after 1",
            "engine.answer.before 1"})
    );
}

TEST(CrashTest, killed_twice_anywhere_an_order_ends_in_one_effect_when_its_client_asks_again) {
    EXPECT_GT(for_each_crash<Order>(&by_client<Order>, &check_one_effect<Order>), 100);
}

TEST(CrashTest, killed_twice_anywhere_an_order_ends_in_one_effect_when_only_the_completer_goes_on) {
    EXPECT_GT(for_each_crash<Order>(&by_completer<Order>, &check_one_effect<Order>), 80);
}

void settle_by_the_books(Shop<OrderOnce>& shop) {
    const bool charged = !shop.provider.charges.empty();
    std::promise<Answer> ended;
    shop.world.engine->settle(
        {.key_id = shop.world.number("SELECT key_id FROM pawl_attention"),
         .attempt = static_cast<int>(shop.world.number("SELECT attempt FROM pawl_attention")),
         .recovery_point = "ordered",
         .kind = charged ? engine::Settlement::Kind::happened
                         : engine::Settlement::Kind::did_not_happen,
         .result_name = charged ? "Paid" : "",
         .result = charged ? R"({"id":"ch_1"})" : "",
         .by = "ann"},
        [&](Answer answer) { ended.set_value(std::move(answer)); }
    );
    EXPECT_EQ(status_of(World::get(ended.get_future())), 201);
}

// The call is not repeated: it ends by itself, or an operator checks the provider's books and
// settles the request.
TEST(
    CrashTest, killed_twice_anywhere_a_call_that_may_not_be_repeated_is_not_and_a_person_can_end_it
) {
    const auto check = [](Shop<OrderOnce>& shop, const Answer& answer) {
        EXPECT_LE(shop.provider.keys.size(), 1U);
        if (why_of(answer) == Reason::needs_attention) {
            EXPECT_EQ(shop.world.count("pawl_attention"), 1);
            settle_by_the_books(shop);
        }
        const auto last = shop.world.ask<OrderOnce>("k", order_of_jane);
        EXPECT_EQ(shop.world.count("pawl_attention"), 0);
        EXPECT_EQ(shop.provider.keys.size(), 1U);
        check_one_effect(shop, last);
    };

    EXPECT_GT(for_each_crash<OrderOnce>(&by_client<OrderOnce>, check), 50);
    EXPECT_GT(for_each_crash<OrderOnce>(&by_completer<OrderOnce>, check), 50);
}

// An exception at a point inside a transaction or a call passes through the engine, in the same
// process.
TEST(CrashTest, a_throw_at_any_point_that_can_throw_ends_in_one_effect) {
    const std::vector<std::string> points{
        "engine.phase.after",
        "engine.keep.inside",
        "engine.call.before",
        "engine.call.after",
        "sqlite.commit.before",
        "sqlite.commit.after"};
    for (const auto& point : points) {
        for (int hit = 1; hit <= 2; ++hit) {
            SCOPED_TRACE(point + " " + std::to_string(hit));
            Shop<Order> shop;
            std::atomic<int> hits{0};
            core::on_fault_point([&](std::string_view name) {
                if (name == point && ++hits == hit) throw std::runtime_error{"planted"};
            });

            const auto answer = by_client(shop);
            core::on_fault_point(nullptr);

            EXPECT_GE(hits.load(), 1);
            check_one_effect(shop, answer);
        }
    }
}

}  // namespace
}  // namespace pawl::testing
