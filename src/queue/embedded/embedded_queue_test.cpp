#include "src/queue/embedded/embedded_queue.hpp"

#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/conformance/store_world.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

// The embedded queue's own behaviour: staging by a phase, and errors of the store.
// tests/conformance tests what is common to all queues.
namespace pawl::queue {

namespace {

using namespace conformance;

struct SendReceipt {
    static constexpr std::string_view kind = "send_receipt";
    std::int64_t ride{};
};

class EmbeddedQueueTest : public ::testing::Test {
protected:
    EmbeddedQueueTest() { store::apply_migrations(store, "pawl", sql::migrations::all); }

    template <class F>
    void in_phase(F f) {
        write_now(store, [&](Session& session) {
            detail::TxFactory::with_tx({session, base::system_random(), 42}, f);
        });
    }

    HandClock clock;
    memory::MemoryStore store{clock};
    EmbeddedQueue queue{store};
};

}  // namespace

TEST_F(EmbeddedQueueTest, a_staged_job_exists_once_its_phase_has_committed) {
    in_phase([](Tx& tx) { tx.stage(SendReceipt{.ride = 7}); });

    const auto jobs = queue.claim(10, 30s);

    ASSERT_EQ(jobs.size(), 1);
    EXPECT_EQ(jobs[0].kind, "send_receipt");
    EXPECT_EQ(jobs[0].raw.args, R"({"ride":7})");
    EXPECT_EQ(jobs[0].raw.key_id, 42);
    EXPECT_EQ(jobs[0].raw.jid.size(), 24);
}

TEST_F(EmbeddedQueueTest, a_job_staged_by_a_rolled_back_phase_does_not_exist) {
    EXPECT_ANY_THROW(in_phase([](Tx& tx) {
        tx.stage(SendReceipt{.ride = 7});
        throw std::runtime_error{"after all"};
    }));

    EXPECT_TRUE(queue.claim(10, 30s).empty());
}

TEST_F(EmbeddedQueueTest, no_two_jobs_have_the_same_id) {
    in_phase([](Tx& tx) {
        for (int ride = 0; ride < 500; ++ride) tx.stage(SendReceipt{.ride = ride});
    });

    std::set<std::string> jids;
    for (const auto& job : queue.claim(500, 30s)) jids.insert(job.raw.jid);

    EXPECT_EQ(jids.size(), 500);
}

TEST_F(EmbeddedQueueTest, many_workers_share_the_jobs_and_do_each_once) {
    in_phase([](Tx& tx) {
        for (int ride = 0; ride < 300; ++ride) tx.stage(SendReceipt{.ride = ride});
    });
    std::atomic<int> finished{0};
    std::vector<std::thread> workers;

    for (int w = 0; w < 4; ++w)
        workers.emplace_back([&] {
            for (auto jobs = queue.claim(7, 30s); !jobs.empty(); jobs = queue.claim(7, 30s))
                for (const auto& job : jobs) finished += queue.finish(job) ? 1 : 0;
        });
    for (auto& worker : workers) worker.join();

    EXPECT_EQ(finished, 300);
    EXPECT_FALSE(queue.next_due());
}

TEST_F(EmbeddedQueueTest, a_claim_whose_commit_is_refused_leaves_the_job_to_the_next) {
    in_phase([](Tx& tx) { tx.stage(SendReceipt{.ride = 7}); });
    store.plan_next_commit(memory::CommitFate::refused);

    EXPECT_THROW(queue.claim(1, 30s), StoreError);

    const auto jobs = queue.claim(1, 30s);
    ASSERT_EQ(jobs.size(), 1);
    EXPECT_EQ(jobs[0].claim, 1);
}

TEST_F(EmbeddedQueueTest, a_claim_in_doubt_that_was_committed_ends_with_its_lease) {
    in_phase([](Tx& tx) { tx.stage(SendReceipt{.ride = 7}); });
    store.plan_next_commit(memory::CommitFate::in_doubt_kept);

    EXPECT_THROW(queue.claim(1, 30s), StoreError);

    EXPECT_TRUE(queue.claim(1, 30s).empty());
    clock.advance(30s);
    EXPECT_EQ(queue.rescue(60s), 1);
    EXPECT_EQ(queue.claim(1, 30s).at(0).claim, 2);
}

TEST_F(EmbeddedQueueTest, a_finish_in_doubt_is_settled_by_repeating_it) {
    for (const bool kept : {true, false}) {
        in_phase([](Tx& tx) { tx.stage(SendReceipt{.ride = 7}); });
        const auto job = queue.claim(1, 30s).at(0);
        using memory::CommitFate;
        store.plan_next_commit(kept ? CommitFate::in_doubt_kept : CommitFate::in_doubt_undone);

        EXPECT_THROW(queue.finish(job), StoreError);

        EXPECT_EQ(queue.finish(job), !kept) << "done already, or done now: never twice";
        clock.advance(30s);
        EXPECT_EQ(queue.rescue(60s), 0);
    }
}

}  // namespace pawl::queue
