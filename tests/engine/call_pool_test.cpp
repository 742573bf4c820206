#include "src/engine/call_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace pawl::engine {
namespace {

// Makes at most this many threads, as under a cgroup limit.
CallPool::MakeThread limited_to(int threads) {
    return [left = std::make_shared<std::atomic<int>>(threads)](std::function<void()> f) {
        if ((*left)-- <= 0)
            throw std::system_error{
                std::make_error_code(std::errc::resource_unavailable_try_again)};
        return std::thread{std::move(f)};
    };
}

TEST(CallPool, without_any_thread_a_call_is_refused_and_never_runs) {
    std::atomic<bool> ran{false};
    {
        CallPool pool{4, limited_to(0)};
        EXPECT_FALSE(pool.post([&] { ran = true; }));
        EXPECT_FALSE(pool.is_full());
    }
    EXPECT_FALSE(ran);
}

TEST(CallPool, without_more_threads_calls_wait_for_the_existing_ones) {
    CallPool pool{4, limited_to(1)};
    std::promise<void> go;
    std::promise<void> second_ran;
    EXPECT_TRUE(pool.post([&] { go.get_future().wait(); }));

    EXPECT_TRUE(pool.post([&] { second_ran.set_value(); }));

    go.set_value();
    EXPECT_EQ(
        second_ran.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready
    );
}

}  // namespace
}  // namespace pawl::engine
