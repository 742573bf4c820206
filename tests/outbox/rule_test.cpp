#include "src/client/outbox/outbox_rule.hpp"

#include <gtest/gtest.h>

namespace pawl::client {
namespace {

using namespace std::chrono_literals;

const OutboxOptions options{};  // Waits 5 s to an hour, gives up after 20 h.

std::string text_of(const AfterSending& after) {
    if (const auto* later = std::get_if<PutOff>(&after))
        return "again in " + std::to_string(later->wait / 1ms) + " ms";
    return std::get<FinishIt>(after).gave_up ? "gave up" : "finished";
}

std::string after(const ClientEnd& end, int attempts = 1, std::chrono::milliseconds age = 0ms) {
    return text_of(decide_after_sending(options, end, attempts, age, 0));
}

TEST(AfterSending, what_a_repeat_could_change_is_no_end) {
    for (const int status : {200, 201, 204, 301, 400, 402, 404, 410, 422})
        EXPECT_EQ(after(Answered{.status = status}), "finished") << status;
    for (const int status : {401, 403, 407, 408, 409, 421, 425, 429, 500, 501, 502, 503, 504})
        EXPECT_EQ(after(Answered{.status = status}), "again in 5000 ms") << status;
    EXPECT_EQ(after(Answered{.status = 404, .in_doubt = true}), "again in 5000 ms");
    EXPECT_EQ(after(Answered{.status = 500, .replayed = true}), "finished");
    EXPECT_EQ(after(GaveUp{.in_doubt = true}), "again in 5000 ms");
    EXPECT_EQ(after(GaveUp{}), "again in 5000 ms");
}

TEST(AfterSending, waits_twice_as_long_each_time_up_to_the_longest) {
    EXPECT_EQ(after(GaveUp{}, 2), "again in 10000 ms");
    EXPECT_EQ(after(GaveUp{}, 10), "again in 2560000 ms");
    EXPECT_EQ(after(GaveUp{}, 11), "again in 3600000 ms");
    EXPECT_EQ(after(GaveUp{}, 2'000'000'000), "again in 3600000 ms");
    EXPECT_EQ(text_of(decide_after_sending(options, GaveUp{}, 1, 0ms, 0.5)), "again in 3750 ms");
}

TEST(AfterSending, is_for_people_when_the_key_may_be_forgotten) {
    EXPECT_EQ(after(GaveUp{}, 9, 20h - 1ms), "again in 1280000 ms");
    EXPECT_EQ(after(GaveUp{}, 9, 20h), "gave up");
    EXPECT_EQ(after(Answered{.status = 201}, 9, 30h), "finished");
}

TEST(MaySend, whatever_was_never_sent_and_the_rest_while_its_key_is_known) {
    EXPECT_TRUE(may_send(options, 0, 1000h));
    EXPECT_TRUE(may_send(options, 1, 20h - 1ms));
    EXPECT_FALSE(may_send(options, 1, 20h));
}

TEST(OutboxOptions, names_what_is_out_of_its_limits) {
    EXPECT_EQ(OutboxOptions{}.problem(), std::nullopt);
    EXPECT_EQ(OutboxOptions{.at_once = 0}.problem(), "at_once is 0: 1 to 1000");
    EXPECT_EQ(OutboxOptions{.every = 1ms}.problem(), "every is 1 ms: 10 to 3600000");
    EXPECT_EQ(OutboxOptions{.wait_first = 0ms}.problem(), "wait_first is 0 ms: at least 1");
    EXPECT_EQ(
        OutboxOptions{.wait_longest = 1s}.problem(),
        "wait_longest is 1000 ms: at least wait_first, 5000 ms"
    );
    EXPECT_EQ(OutboxOptions{.give_up_after = 0h}.problem(), "give_up_after is 0 h: at least 1");
    EXPECT_EQ(OutboxOptions{.keep = 0h}.problem(), "keep is 0 h: at least 1");
}

}  // namespace
}  // namespace pawl::client
