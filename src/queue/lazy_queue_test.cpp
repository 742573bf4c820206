#include "src/queue/lazy_queue.hpp"

#include <pawl/error.hpp>

#include "src/base/clock.hpp"
#include "src/queue/open.hpp"
#include "src/store/memory/memory_store.hpp"
#include "src/store/migrate.hpp"
#include "store/migrations.hpp"

#include <gtest/gtest.h>

namespace pawl::queue {
namespace {

using namespace std::chrono_literals;

// A server without workers once took its share of Kafka's partitions, and worked none.
TEST(LazyQueue, the_queue_is_opened_by_the_first_claim) {
    int opened = 0;
    LazyQueue queue{[&]() -> std::unique_ptr<Queue> {
        ++opened;
        throw StoreError{StoreError::Kind::unavailable, StoreError::Effect::none, "test", "away"};
    }};

    EXPECT_EQ(queue.rescue(30s), 0);
    EXPECT_EQ(opened, 0);
    EXPECT_THROW(queue.claim(1, 30s), StoreError);
    EXPECT_EQ(opened, 1);
}

// A rescue is by the queue from then on, with this lease.
TEST(LazyQueue, an_open_queue_rescues_the_jobs_of_the_dead) {
    memory::MemoryStore store{base::system_clock()};
    store::apply_migrations(store, "pawl", sql::migrations::all);
    int opened = 0;
    LazyQueue queue{[&] {
        ++opened;
        return open_queue({}, store, base::system_clock(), nullptr).queue;
    }};

    EXPECT_TRUE(queue.claim(1, 30s).empty());
    EXPECT_EQ(queue.rescue(30s), 0);
    EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace pawl::queue
