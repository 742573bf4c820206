#include "src/locks/redis_lease_backend.hpp"
#include "src/locks/store_lease_backend.hpp"
#include "src/redis/client.hpp"
#include "tests/conformance/each_store.hpp"
#include "tests/redis/redis_server.hpp"

#include <functional>
#include <memory>
#include <ostream>

// What a lease backend must do: the table of each store, and a real Redis.
namespace pawl::conformance {

namespace {

using core::LeaseChoice;
using locks::LeaseBackend;

class LeaseWorld {
public:
    virtual ~LeaseWorld() = default;
    virtual std::unique_ptr<LeaseBackend> open() = 0;
    HandClock clock;
};

class StoreWorld final : public LeaseWorld {
public:
    explicit StoreWorld(Stores stores) : home_{stores, clock}, store_{home_.open_filled()} {}
    std::unique_ptr<LeaseBackend> open() override { return locks::store_lease_backend(*store_); }

private:
    StoreHome home_;
    std::unique_ptr<store::Store> store_;
};

class RedisLeaseWorld final : public LeaseWorld {
public:
    RedisLeaseWorld() : options_{testing::empty_redis().options()} {}
    std::unique_ptr<LeaseBackend> open() override {
        return locks::redis_lease_backend(std::make_unique<redis::Client>(options_, &clock));
    }

private:
    redis::Options options_;
};

struct PlaceKind {
    std::string name;
    std::function<std::unique_ptr<LeaseWorld>()> make;
};
void PrintTo(const PlaceKind& kind, std::ostream* out) {
    *out << kind.name;
}

class LeaseTest : public ::testing::TestWithParam<PlaceKind> {
protected:
    // 0: another holder has it.
    std::int64_t acquire(const std::string& holder, std::chrono::milliseconds ttl = 30s) {
        const auto choice = backend->acquire("report", holder, ttl);
        const auto* taken = std::get_if<core::LeaseAcquired>(&choice);
        return taken != nullptr ? taken->epoch : 0;
    }
    bool extend(std::int64_t epoch, const std::string& holder) {
        return backend->extend("report", epoch, holder, 30s);
    }

    std::unique_ptr<LeaseWorld> world = GetParam().make();
    HandClock& clock = world->clock;
    std::unique_ptr<LeaseBackend> backend = world->open();
    std::unique_ptr<LeaseBackend> of_another_process = world->open();
};

std::vector<PlaceKind> store_kinds() {
    std::vector<PlaceKind> kinds;
    for (const auto stores : all_stores)
        kinds.push_back({name_of(stores), [stores] { return std::make_unique<StoreWorld>(stores); }}
        );
    return kinds;
}
INSTANTIATE_TEST_SUITE_P(Stores, LeaseTest, ::testing::ValuesIn(store_kinds()), [](const auto& of) {
    return of.param.name;
});
INSTANTIATE_TEST_SUITE_P(
    Redis,
    LeaseTest,
    ::testing::Values(PlaceKind{"redis", [] { return std::make_unique<RedisLeaseWorld>(); }}),
    [](const auto& of) { return of.param.name; }
);

}  // namespace

TEST_P(LeaseTest, one_holder_has_it_and_others_get_the_remaining_time) {
    EXPECT_GE(acquire("ann"), 1);
    clock.advance(10s);

    const auto choice = of_another_process->acquire("report", "joe", 5s);

    ASSERT_TRUE(std::holds_alternative<core::LeaseHeld>(choice));
    EXPECT_EQ(std::get<core::LeaseHeld>(choice).left, 20s);
}

TEST_P(LeaseTest, each_name_is_a_lease_of_its_own) {
    acquire("ann");

    EXPECT_TRUE(std::holds_alternative<core::LeaseAcquired>(backend->acquire("mails", "joe", 5s)));
}

TEST_P(LeaseTest, it_is_free_at_its_end_and_not_before) {
    const auto first = acquire("ann");
    clock.advance(30s - 1ms);
    EXPECT_EQ(acquire("joe"), 0);

    clock.advance(1ms);

    EXPECT_GT(acquire("joe"), first);
}

TEST_P(LeaseTest, only_its_holder_can_extend_it) {
    const auto epoch = acquire("ann");
    clock.advance(20s);

    EXPECT_FALSE(extend(epoch, "joe"));
    EXPECT_FALSE(extend(epoch + 1, "ann"));
    EXPECT_FALSE(backend->extend("mails", epoch, "ann", 30s)) << "a name that nobody took";
    EXPECT_TRUE(extend(epoch, "ann"));

    clock.advance(29s);
    EXPECT_EQ(acquire("joe"), 0);
    clock.advance(1s);
    EXPECT_GT(acquire("joe"), epoch);
}

TEST_P(LeaseTest, an_ended_lease_is_not_extended) {
    const auto epoch = acquire("ann");
    clock.advance(30s);

    EXPECT_FALSE(extend(epoch, "ann"));

    EXPECT_GT(acquire("joe"), epoch);
    EXPECT_FALSE(extend(epoch, "ann")) << "nor when another has it";
}

TEST_P(LeaseTest, a_lease_given_back_is_free_at_once_and_keeps_its_epoch) {
    const auto first = acquire("ann");

    backend->release("report", "joe");
    EXPECT_EQ(acquire("joe"), 0) << "it was not joe's to give";
    backend->release("report", "ann");
    backend->release("report", "ann");
    backend->release("mails", "ann");

    EXPECT_FALSE(extend(first, "ann"));
    EXPECT_GT(acquire("joe"), first);
}

TEST_P(LeaseTest, epochs_only_grow_however_it_ends) {
    std::int64_t last = 0;
    for (int n = 0; n < 20; ++n) {
        const auto holder = "holder-" + std::to_string(n);
        const auto epoch = acquire(holder);
        ASSERT_GT(epoch, last);
        last = epoch;
        if (n % 3 == 0)
            backend->release("report", holder);
        else
            clock.advance(n % 3 == 1 ? 30s : 300 * 24h);
    }
}

// The outcome of its first request is unknown: no answer came.
TEST_P(LeaseTest, the_same_holder_can_take_it_again) {
    const auto first = acquire("ann");
    clock.advance(10s);

    EXPECT_GT(acquire("ann"), first);

    clock.advance(29s);
    EXPECT_EQ(acquire("joe"), 0);
}

TEST_P(LeaseTest, a_clock_that_was_far_ahead_holds_it_for_twice_its_ttl_at_most) {
    clock.advance(24h);
    const auto first = acquire("ann", 30s);
    clock.advance(-24h);

    EXPECT_FALSE(extend(first, "ann"));
    EXPECT_GT(acquire("joe"), first);

    // A long lease does not end because the next holder asks for a short one.
    backend->release("report", "joe");
    acquire("ann", 1h);
    EXPECT_EQ(acquire("joe", 100ms), 0);
}

TEST_P(LeaseTest, of_many_concurrent_takers_one_gets_it) {
    std::vector<std::future<bool>> tries;
    std::vector<std::unique_ptr<LeaseBackend>> backends;
    for (int n = 0; n < 8; ++n) {
        backends.push_back(world->open());
        tries.push_back(std::async(std::launch::async, [n, &backend = *backends.back()] {
            return std::holds_alternative<core::LeaseAcquired>(
                backend.acquire("crowd", "holder-" + std::to_string(n), 30s)
            );
        }));
    }
    int had = 0;
    for (auto& one : tries) had += one.get() ? 1 : 0;

    EXPECT_EQ(had, 1);
}

}  // namespace pawl::conformance
