#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/postgres/two_stores.hpp"

#include <atomic>
#include <set>
#include <thread>

// Unique jobs that are staged by many transactions at once, while workers end them.
namespace pawl::postgres::unique_jobs_test {
namespace {

struct Index {
    static constexpr std::string_view kind = "index";
    std::int64_t customer{};
};

constexpr Isolation isolations[] = {
    Isolation::read_committed, Isolation::repeatable_read, Isolation::serializable};

class UniqueJobsRaceTest : public TwoStores {
protected:
    struct Counts {
        std::atomic<int> is_new{0};
        std::atomic<int> refused{0};
        std::atomic<int> failed{0};
    };
    // Each of these transactions stages the key; of those that share a transaction, too.
    void stage(int times, const StageOptions& how, Isolation isolation, Counts& counts) {
        std::vector<Ending> endings;
        std::vector<Staged> told(static_cast<std::size_t>(times));
        for (int n = 0; n < times; ++n)
            endings.push_back(begin(
                n % 2 == 0 ? one : other,
                [&told, &how, n](Tx& tx) {
                    told.at(static_cast<std::size_t>(n)) = tx.stage(Index{n}, how);
                },
                isolation
            ));
        for (std::size_t n = 0; n < endings.size(); ++n) {
            if (endings[n].wait()) {
                ++counts.failed;
                continue;
            }
            EXPECT_EQ(told[n].id.size(), 24);
            ++(told[n].is_new ? counts.is_new : counts.refused);
        }
    }
};

}  // namespace

TEST_F(UniqueJobsRaceTest, of_many_concurrent_transactions_one_stages_the_job) {
    for (const auto isolation : isolations)
        for (const auto within : {0ms, 60'000ms})
            for (int round = 0; round < 10; ++round) {
                const auto key = std::to_string(static_cast<int>(isolation)) + "-" +
                                 std::to_string(within.count()) + "-" + std::to_string(round);
                Counts counts;

                stage(12, {.unique = key, .within = within}, isolation, counts);

                EXPECT_EQ(counts.failed, 0) << key;
                EXPECT_EQ(counts.is_new, 1) << key;
            }
}

// A key is free as soon as its job is done: every job that was staged is worked once, and never
// two of them at once.
TEST_F(UniqueJobsRaceTest, workers_that_end_the_jobs_get_each_one_once) {
    for (const auto isolation : isolations) {
        Counts counts;
        std::set<std::string> worked;
        std::atomic<bool> staging{true};
        const auto work = [&](queue::EmbeddedQueue& queue) {
            const auto jobs = queue.claim(10, 60s);
            EXPECT_LE(jobs.size(), 1);
            for (const auto& job : jobs) {
                EXPECT_TRUE(worked.insert(job.raw.jid).second);
                EXPECT_TRUE(queue.finish(job));
            }
        };
        std::thread worker{[&] {
            queue::EmbeddedQueue queue{other};
            while (staging) work(queue);
        }};
        for (int round = 0; round < 30; ++round) stage(12, {.unique = "17"}, isolation, counts);
        staging = false;
        worker.join();
        // The worker's own queue finds a job late whose transaction took over 50 ms (PollCursor).
        queue::EmbeddedQueue from_the_beginning{other};
        work(from_the_beginning);

        EXPECT_EQ(counts.failed, 0);
        EXPECT_EQ(counts.is_new, static_cast<int>(worked.size()));
        EXPECT_GT(counts.is_new, 1);
        EXPECT_GT(counts.refused, 0);
    }
}

}  // namespace pawl::postgres::unique_jobs_test
