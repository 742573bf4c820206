#include "src/page/threads.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace pawl::page {
namespace {

using namespace std::chrono_literals;

TEST(Threads, a_sender_with_slow_requests_leaves_a_thread_to_the_others) {
    std::promise<void> slow;
    const auto end = slow.get_future().share();
    std::promise<void> ann_began;
    std::promise<void> bob;
    bool second_ran = false;
    std::promise<void> second;
    {
        Threads threads{{.threads = 2, .waiting_max = 8, .of_sender_max = 4}};
        threads.add("ann", [&] {
            ann_began.set_value();
            end.wait();
        });
        threads.add("ann", [&] {
            second_ran = true;
            second.set_value();
        });
        ann_began.get_future().wait();
        threads.add("bob", [&] { bob.set_value(); });

        ASSERT_EQ(bob.get_future().wait_for(20s), std::future_status::ready);
        EXPECT_FALSE(second_ran);
        slow.set_value();
        ASSERT_EQ(second.get_future().wait_for(20s), std::future_status::ready);
    }
}

TEST(Threads, a_sender_has_a_share_of_the_queue) {
    std::promise<void> slow;
    const auto end = slow.get_future().share();
    std::promise<void> began;
    Threads threads{{.threads = 2, .waiting_max = 5, .of_sender_max = 3}};
    threads.add("ann", [&] {
        began.set_value();
        end.wait();
    });
    began.get_future().wait();

    for (int i = 0; i < 3; ++i) EXPECT_TRUE(threads.add("ann", [] {}));
    EXPECT_FALSE(threads.add("ann", [] {}));
    EXPECT_TRUE(threads.add("bob", [end] { end.wait(); }));
    slow.set_value();
}

}  // namespace
}  // namespace pawl::page
