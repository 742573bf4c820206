#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/conformance/in_tx.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

// The embedded queue's partitions and priorities, and its limits under threads, on each store;
// limited_queue_test.cpp has what all queues with limits do.
namespace pawl::conformance {

namespace {

using core::QueueLimits;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Bill {
    static constexpr std::string_view kind = "bill";
    static constexpr JobSettings settings{.queue = "bills"};
    std::string partition() const { return tenant; }
    std::string tenant{};
};
struct CutBill {
    static constexpr std::string_view kind = "cut_bill";
    std::string partition() const { return tenant.substr(0, 3); }
    std::string tenant{};
};
struct BulkBill {
    static constexpr std::string_view kind = "bulk_bill";
    static constexpr JobSettings settings{.queue = "bills", .priority = 2};
    std::string partition() const { return tenant; }
    std::string tenant{};
};
template <int P>
struct Mail {
    static constexpr std::string_view kind = P == 1 ? "urgent" : P == 4 ? "bulk" : "usual";
    static constexpr JobSettings settings{.queue = "bills", .priority = P};
    int number{};
};

constexpr Sql forget_limits = on_all("delete_all_limits", "DELETE FROM pawl_queue_limits");
constexpr Sql count_without_partition = on_all(
    "count_jobs_without_partition", "SELECT count(*) FROM pawl_jobs WHERE partition IS NULL"
);
constexpr Sql list_kept = on_all(
    "list_priorities_and_partitions", "SELECT priority, partition FROM pawl_jobs ORDER BY id"
);

class QueueLimitsTest : public InTx {
protected:
    template <class Args>
    void stage(const Args& args, std::chrono::milliseconds due_in = 0ms) {
        in_tx([&](Tx& tx) { tx.stage(args, {.due_in = due_in}); });
    }
    void stage_bills(const std::string& tenant, int count) {
        in_tx([&](Tx& tx) {
            for (int i = 0; i < count; ++i) tx.stage(Bill{tenant});
        });
    }
    std::unique_ptr<queue::EmbeddedQueue> server(QueueLimits limits) {
        return std::make_unique<queue::EmbeddedQueue>(*store, "bills", limits);
    }
    static std::vector<std::string> tenants(const std::vector<queue::ClaimedJob>& jobs) {
        std::vector<std::string> found;
        for (const auto& job : jobs)
            found.push_back(std::get<Bill>(detail::decode<Bill>(job.raw.args)).tenant);
        std::sort(found.begin(), found.end());
        return found;
    }
    static std::vector<std::string> kinds(const std::vector<queue::ClaimedJob>& jobs) {
        std::vector<std::string> found;
        for (const auto& job : jobs) found.push_back(job.kind);
        return found;
    }
};
PAWL_ON_EACH_STORE(QueueLimitsTest);

}  // namespace

TEST_P(QueueLimitsTest, a_partition_has_its_limit_and_the_others_go_on) {
    const auto queue = server({.partition_max = 2});
    stage_bills("big", 50);
    stage_bills("small", 1);
    stage_bills("other", 3);

    auto jobs = queue->claim(10, 30s);

    EXPECT_THAT(tenants(jobs), ElementsAre("big", "big", "other", "other", "small"));
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());
    for (const auto& job : jobs) EXPECT_TRUE(queue->finish(job));
    EXPECT_THAT(tenants(queue->claim(10, 30s)), ElementsAre("big", "big", "other"));
}

TEST_P(QueueLimitsTest, partitions_are_served_in_turn_whatever_others_have_staged) {
    const auto queue = server({.partition_max = 5});
    stage_bills("b", 100);
    stage_bills("a", 3);
    stage_bills("c", 3);
    std::vector<std::string> served;

    for (int turn = 0; turn < 7; ++turn) {
        const auto jobs = queue->claim(1, 30s);
        ASSERT_EQ(jobs.size(), 1);
        served.push_back(tenants(jobs).front());
        EXPECT_TRUE(queue->finish(jobs.front()));
    }

    EXPECT_THAT(served, ElementsAre("a", "b", "c", "a", "b", "c", "a"));
}

TEST_P(QueueLimitsTest, one_claim_keeps_the_limit_of_a_partition_over_all_priorities) {
    const auto queue = server({.partition_max = 2});
    stage_bills("a", 2);
    in_tx([&](Tx& tx) {
        for (int i = 0; i < 3; ++i) tx.stage(BulkBill{"a"});
    });

    EXPECT_THAT(kinds(queue->claim(10, 30s)), UnorderedElementsAre("bill", "bill"));
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());
}

TEST_P(QueueLimitsTest, a_running_job_of_one_priority_counts_for_its_partition_at_the_others) {
    const auto queue = server({.partition_max = 2});
    stage_bills("a", 1);
    auto urgent = queue->claim(10, 30s);
    ASSERT_EQ(urgent.size(), 1);
    in_tx([&](Tx& tx) {
        for (const auto* tenant : {"a", "a", "a", "b"}) tx.stage(BulkBill{tenant});
    });

    EXPECT_EQ(queue->claim(10, 30s).size(), 2) << "one of a, one of b";
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());
    stage_bills("a", 1);
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty()) << "an urgent one counts, too";
    EXPECT_TRUE(queue->finish(urgent[0]));
    EXPECT_THAT(kinds(queue->claim(10, 30s)), ElementsAre("bill"));
}

TEST_P(QueueLimitsTest, a_turn_that_begins_in_the_middle_picks_no_partition_twice) {
    const auto queue = server({.partition_max = 2, .token_each = 1s, .burst = 4});
    stage_bills("a", 1);
    EXPECT_EQ(queue->claim(1, 30s).size(), 1);
    stage_bills("a", 1);
    stage_bills("b", 1);
    EXPECT_THAT(tenants(queue->claim(10, 30s)), ElementsAre("a", "b"));
    stage_bills("c", 2);

    EXPECT_THAT(tenants(queue->claim(10, 30s)), ElementsAre("c")) << "the fourth of the burst";
}

TEST_P(QueueLimitsTest, urgent_jobs_of_one_partition_take_no_turns_from_others) {
    const auto queue = server({.partition_max = 1});
    stage_bills("m", 3);
    for (const auto* tenant : {"a", "z"})
        in_tx([&](Tx& tx) {
            for (int i = 0; i < 3; ++i) tx.stage(BulkBill{tenant});
        });
    std::vector<std::string> bulk;
    for (int turn = 0; turn < 3; ++turn) {
        const auto jobs = queue->claim(2, 30s);
        for (const auto& job : jobs) {
            if (job.kind == "bulk_bill") bulk.push_back(tenants({job}).front());
            EXPECT_TRUE(queue->finish(job));
        }
    }

    EXPECT_THAT(bulk, ElementsAre("a", "z", "a"));
}

TEST_P(QueueLimitsTest, a_partition_that_is_no_text_is_refused) {
    in_tx([&](Tx& tx) {
        EXPECT_THROW(tx.stage(CutBill{"ab\xc3\xa9"}), std::invalid_argument);
        EXPECT_THROW(tx.stage(CutBill{std::string{"a\0b", 3}}), std::invalid_argument);
        EXPECT_THROW(tx.stage(Bill{std::string(201, 'a')}), std::invalid_argument);
    });
}

TEST_P(QueueLimitsTest, jobs_without_a_partition_share_one) {
    const auto queue = server({.partition_max = 1});
    stage_bills("", 2);
    stage_bills("a", 1);

    EXPECT_THAT(tenants(queue->claim(10, 30s)), ElementsAre("", "a"));
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());
}

TEST_P(QueueLimitsTest, jobs_from_before_the_queue_had_turns_get_a_turn_with_the_next_sweep) {
    const auto queue = server({.partition_max = 1});
    in_tx([&](Tx& tx) {
        for (int number = 0; number < 1'100; ++number) tx.stage(Mail<1>{number});
    });
    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());

    EXPECT_EQ(queue->rescue(30s), 0);

    EXPECT_THAT(kinds(queue->claim(10, 30s)), ElementsAre("urgent"));
    EXPECT_EQ(read_rows<int>(*store, count_without_partition).at(0), 0);
}

TEST_P(QueueLimitsTest, a_due_job_is_found_behind_thousands_of_partitions_that_wait) {
    const auto queue = server({.partition_max = 1});
    in_tx([&](Tx& tx) {
        for (int tenant = 0; tenant < 2'500; ++tenant)
            tx.stage(Bill{"t" + std::to_string(10'000 + tenant)}, {.due_in = 1h});
    });
    stage_bills("z", 1);

    int claims = 1;
    while (queue->claim(10, 30s).empty() && claims < 10) {
        EXPECT_EQ(queue->held_back_for({}), 20ms);
        ++claims;
    }

    EXPECT_EQ(claims, 3);
}

TEST_P(QueueLimitsTest, kinds_that_are_left_out_and_their_partitions_stop_no_others) {
    const auto queue = server({.partition_max = 2});
    stage_bills("a", 3);
    stage(Mail<1>{});
    EXPECT_EQ(queue->rescue(30s), 0);

    EXPECT_THAT(kinds(queue->claim(10, 30s, {.without_kinds = {"bill"}})), ElementsAre("urgent"));
    EXPECT_THAT(kinds(queue->claim(10, 30s)), ElementsAre("bill", "bill"));
}

TEST_P(QueueLimitsTest, urgent_jobs_come_first_with_limits_and_without) {
    for (const auto& limits :
         {QueueLimits{}, QueueLimits{.running_max = 10}, QueueLimits{.partition_max = 10}}) {
        const auto queue = server(limits);
        stage(Mail<4>{1});
        stage(Mail<4>{2});
        stage(Mail<2>{3});
        stage(Mail<1>{4});
        if (limits.partition_max > 0) queue->rescue(30s);
        std::vector<std::string> order;
        for (int turn = 0; turn < 4; ++turn) {
            const auto jobs = queue->claim(1, 30s);
            ASSERT_EQ(jobs.size(), 1);
            order.push_back(jobs.front().kind);
            EXPECT_TRUE(queue->finish(jobs.front()));
            clock.advance(10ms);
        }

        EXPECT_THAT(order, ElementsAre("urgent", "usual", "bulk", "bulk"));
    }
}

TEST_P(QueueLimitsTest, one_claim_takes_jobs_of_several_priorities) {
    const auto queue = server({});
    stage(Mail<4>{1});
    stage(Mail<2>{2});
    stage(Mail<1>{3});

    EXPECT_THAT(kinds(queue->claim(2, 30s)), UnorderedElementsAre("urgent", "usual"));
    EXPECT_THAT(kinds(queue->claim(2, 30s)), UnorderedElementsAre("bulk"));
}

TEST_P(QueueLimitsTest, limits_that_were_deleted_come_back_with_the_next_claim) {
    const auto queue = server({.running_max = 1});
    stage_bills("a", 2);
    EXPECT_EQ(queue->claim(10, 30s).size(), 1);
    write_one(*store, forget_limits);

    EXPECT_THAT(queue->claim(10, 30s), IsEmpty());
    EXPECT_EQ(queue->held_back_for({}), std::nullopt) << "the row is there, and not locked";
}

TEST_P(QueueLimitsTest, declared_limits_keep_the_rates_bucket) {
    write_one(*store, sql::declare_queue_limits, "bills", 1, 2, "3/s, burst 4");
    write_one(*store, sql::set_queue_full_at, "bills", 17);
    write_one(*store, sql::declare_queue_limits, "bills", 5, 6, "7/s, burst 8");
    struct Limits {
        std::string queue;
        int running_max;
        int partition_max;
        std::string rate;
    };

    const auto listed = read_rows<Limits>(*store, sql::list_queue_limits);

    ASSERT_EQ(listed.size(), 1);
    EXPECT_EQ(listed[0].running_max, 5);
    EXPECT_EQ(listed[0].partition_max, 6);
    EXPECT_EQ(listed[0].rate, "7/s, burst 8");
    const auto full_at = write_now(*store, [](Session& session) {
        std::int64_t found = 0;
        detail::run_statement(
            session,
            sql::lock_queue_limits,
            [&](const detail::Row& row) { found = row.integer(0); },
            "bills"
        );
        return found;
    });
    EXPECT_EQ(full_at, 17);
    write_one(*store, sql::delete_queue_limits, "bills");
    EXPECT_THAT(read_rows<Limits>(*store, sql::list_queue_limits), IsEmpty());
}

// Between the two statements, a server that knows no limits may claim a job.
TEST_P(QueueLimitsTest, a_picked_job_that_another_server_has_claimed_is_left_to_it) {
    const auto unlimited = server({});
    stage_bills("a", 1);
    const auto jobs = unlimited->claim(1, 30s);
    ASSERT_EQ(jobs.size(), 1);

    const auto claimed = write_one(
        *store,
        sql::claim_picked_jobs,
        "[" + jobs[0].id + "]",
        clock.now() + 30s,
        std::optional<std::int64_t>{}
    );

    EXPECT_EQ(claimed, 0);
    EXPECT_TRUE(unlimited->finish(jobs[0]));
}

TEST_P(QueueLimitsTest, a_dead_letter_keeps_its_priority_and_partition) {
    const auto queue = server({});
    queue::EmbeddedDeadLetters letters{*store};
    stage(Mail<4>{1});
    stage_bills("a", 1);
    for (const auto& job : queue->claim(10, 30s)) EXPECT_TRUE(queue->dead_letter(job, "no"));
    std::vector<std::string> ids;
    for (const auto& letter : letters.page({}, "", 10)) ids.push_back(letter.id);

    letters.merge(ids, {"ann", "why"}, clock.now() + 1h);

    struct Kept {
        int priority;
        std::optional<std::string> partition;
    };
    const auto kept = read_rows<Kept>(*store, list_kept);
    ASSERT_EQ(kept.size(), 2);
    EXPECT_EQ(kept[0].priority, 4);
    EXPECT_EQ(kept[0].partition, std::nullopt);
    EXPECT_EQ(kept[1].partition, "a");
}

// Three servers with four workers each, in real time.
TEST_P(QueueLimitsTest, servers_that_claim_at_once_never_exceed_the_limits) {
    if (GetParam() != Stores::postgres) GTEST_SKIP() << "one writer: no two claims at once";
    constexpr int jobs = 300;
    const QueueLimits limits{.running_max = 6, .partition_max = 3};
    for (const auto* tenant : {"a", "b", "c"}) stage_bills(tenant, jobs / 3);
    std::vector<std::unique_ptr<store::Store>> stores;
    std::vector<std::unique_ptr<queue::EmbeddedQueue>> servers;
    for (int i = 0; i < 3; ++i)
        servers.push_back(
            std::make_unique<queue::EmbeddedQueue>(*stores.emplace_back(open()), "bills", limits)
        );
    std::mutex mutex;
    std::map<std::string, int> running;
    int in_all = 0, most = 0, most_of_one = 0;
    std::atomic<int> done{0};
    std::vector<std::thread> workers;
    for (int w = 0; w < 12; ++w)
        workers.emplace_back([&, w] {
            auto& queue = *servers[static_cast<std::size_t>(w) % servers.size()];
            while (done < jobs) {
                const auto claimed = queue.claim(4, 30s);
                {
                    const std::lock_guard lock{mutex};
                    for (const auto& tenant : tenants(claimed)) {
                        most = std::max(most, ++in_all);
                        most_of_one = std::max(most_of_one, ++running[tenant]);
                    }
                }
                std::this_thread::sleep_for(1ms);
                for (const auto& job : claimed) {
                    {
                        const std::lock_guard lock{mutex};
                        --in_all;
                        --running[tenants({job}).front()];
                    }
                    if (queue.finish(job)) ++done;
                }
            }
        });
    for (auto& worker : workers) worker.join();

    EXPECT_EQ(done, jobs);
    EXPECT_LE(most, limits.running_max);
    EXPECT_LE(most_of_one, limits.partition_max);
    EXPECT_GE(most, 2) << "jobs did run at the same time";
}

}  // namespace pawl::conformance
