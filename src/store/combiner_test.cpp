#include "src/store/combiner.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pawl::store {
namespace {

using ::testing::ElementsAre;

TEST(Combiner, a_single_request_runs_at_once) {
    Combiner<int, int> twice{
        [](const std::vector<int>& in) { return std::vector<int>{2 * in.at(0)}; }};

    EXPECT_EQ(twice.run(21), 42);
    EXPECT_EQ(twice.run(4), 8);
}

// Holds the first batch until all others wait.
class Held {
public:
    std::vector<int> operator()(const std::vector<int>& in) {
        sizes.push_back(in.size());
        if (sizes.size() == 1) {
            began.set_value();
            go_on.get_future().wait();
        }
        if (fails) throw std::runtime_error{"no"};
        std::vector<int> out;
        for (const int one : in) out.push_back(-one);
        return out;
    }
    std::vector<std::size_t> sizes;
    std::promise<void> began;
    std::promise<void> go_on;
    std::atomic<bool> fails{false};
};

TEST(Combiner, requests_that_arrive_meanwhile_are_combined_and_each_gets_its_result) {
    Held held;
    Combiner<int, int> negated{[&](const std::vector<int>& in) { return held(in); }};
    auto first = std::async(std::launch::async, [&] { return negated.run(1); });
    held.began.get_future().wait();
    std::atomic<int> calling{0};
    std::vector<std::future<int>> others;
    for (int i = 2; i < 9; ++i)
        others.push_back(std::async(std::launch::async, [&, i] {
            ++calling;
            return negated.run(i);
        }));
    while (calling < 7) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});

    held.go_on.set_value();

    EXPECT_EQ(first.get(), -1);
    for (int i = 2; i < 9; ++i) EXPECT_EQ(others[static_cast<std::size_t>(i - 2)].get(), -i);
    EXPECT_THAT(held.sizes, ElementsAre(1, 7));
}

TEST(Combiner, a_failure_affects_its_whole_batch_and_no_other) {
    Held held;
    Combiner<int, int> negated{[&](const std::vector<int>& in) { return held(in); }};
    held.go_on.set_value();
    held.fails = true;
    EXPECT_THROW(negated.run(1), std::runtime_error);
    held.fails = false;

    EXPECT_EQ(negated.run(2), -2);
}

TEST(Combiner, no_request_is_lost_under_load) {
    std::atomic<int> under_way{0};
    Combiner<int, int> same{[&](const std::vector<int>& in) {
        EXPECT_EQ(under_way++, 0) << "never two at a time";
        std::this_thread::yield();
        --under_way;
        return in;
    }};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&same, t] {
            for (int i = 0; i < 2'000; ++i) ASSERT_EQ(same.run(t * 10'000 + i), t * 10'000 + i);
        });
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace pawl::store
