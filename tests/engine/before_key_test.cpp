#include <pawl/json.hpp>
#include <pawl/query.hpp>

#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Found by reading: a refusal by a phase is stored under the tenant's key, and replayed to all who
// send that key.

struct Wanted {
    std::string thing;
};

// For the whole tenant, except Joe, and not before the shop opens.
class Buy {
public:
    static constexpr std::string_view name = "buy";
    static constexpr Settings settings{.scope = Scope::tenant, .in_progress = wait(10s)};
    using Request = Wanted;
    using Started = pawl::Started<Wanted>;
    explicit Buy(const bool& open, std::vector<std::string>& keys) : open_{&open}, keys_{&keys} {}

    std::optional<Response> before_key(
        Snapshot& read, const Asked<Wanted>& at, std::string_view key
    ) {
        (void)query_maybe<std::int64_t>(read, one);
        keys_->emplace_back(key);
        if (at.principal.account == "joe") return respond(404, Wanted{"no " + at.request.thing});
        if (at.request.thing == "bug") throw std::runtime_error{"a bug of before_key()"};
        if (!*open_) return respond(409, Wanted{"closed"});
        return std::nullopt;
    }
    Finish buy(Tx&, const Started& at) {
        return answer(201, Wanted{at.request.thing + " for " + at.principal.account});
    }
    using Flow = Steps<Atomic<&Buy::buy>>;

private:
    static constexpr Statement<0> one{"one", "SELECT 1", {}};
    const bool* open_;
    std::vector<std::string>* keys_;
};
static_assert(Operation<Buy>);

struct AccessShop : World {
    AccessShop() { add(Buy{open, keys}); }
    bool open{true};
    std::vector<std::string> keys;

    StoredResponse buy(const std::string& account, const std::string& key = "k") {
        return std::get<StoredResponse>(ask<Buy>(key, R"({"thing":"tea"})", account));
    }
};

TEST(BeforeKey, a_refused_caller_claims_no_key_and_sees_no_answer) {
    AccessShop shop;

    const auto before = shop.buy("joe");
    const auto bought = shop.buy("jane");
    const auto after = shop.buy("joe");

    EXPECT_EQ(before.response.status, 404);
    EXPECT_FALSE(before.expires_at) << "it is not kept";
    EXPECT_EQ(bought.response.body, R"({"thing":"tea for jane"})");
    EXPECT_FALSE(bought.replayed) << "the key was free";
    EXPECT_EQ(after.response.body, before.response.body);
    EXPECT_FALSE(after.replayed);
    EXPECT_TRUE(shop.buy("ann").replayed) << "who may ask gets the answer of the tenant";
    EXPECT_EQ(shop.keys, (std::vector<std::string>{"k", "k", "k", "k"}))
        << "repeats are asked, too";
}

TEST(BeforeKey, a_refusal_before_the_key_is_not_stored) {
    AccessShop shop;
    shop.open = false;
    EXPECT_EQ(shop.buy("jane").response.status, 409);

    shop.open = true;

    EXPECT_EQ(shop.buy("jane").response.status, 201);
}

TEST(BeforeKey, a_failed_before_key_refuses_the_request_and_begins_nothing) {
    AccessShop shop;
    shop.store.fail_reads(1);
    const auto unread = std::get<Rejection>(shop.ask<Buy>("k", R"({"thing":"tea"})"));
    const auto bug = std::get<Rejection>(shop.ask<Buy>("k", R"({"thing":"bug"})"));

    EXPECT_EQ(unread.reason, Reason::store_unavailable);
    EXPECT_EQ(bug.reason, Reason::internal);
    EXPECT_FALSE(shop.buy("jane").replayed) << "the key is as it was";
}

// Found by reading: a job that was refused so counted as done.
TEST(BeforeKey, before_key_is_not_called_for_a_staged_job) {
    AccessShop shop;
    auto request = shop.request<Buy>("k", R"({"thing":"tea"})", "joe");
    request.of_a_job = true;
    std::promise<Answer> ended;
    shop.engine->handle(std::move(request), [&](Answer answer) {
        ended.set_value(std::move(answer));
    });

    EXPECT_EQ(std::get<StoredResponse>(ended.get_future().get()).response.status, 201);
    EXPECT_TRUE(shop.keys.empty());
}

// stop() waits for running before_key() calls, as for every request in flight.
TEST(BeforeKey, the_engine_ends_only_after_a_running_before_key) {
    AccessShop shop;
    shop.store.hold_next_read();
    auto asked = shop.send<Buy>("k", R"({"thing":"tea"})");

    EXPECT_FALSE(shop.engine->stop(50ms));
    shop.store.let_read_go();

    EXPECT_EQ(std::get<Rejection>(World::get(std::move(asked))).reason, Reason::stopping);
    EXPECT_TRUE(shop.engine->stop(10s));
}

}  // namespace
}  // namespace pawl::testing
