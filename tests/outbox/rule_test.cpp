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

std::string after(const ClientResult& end, int attempts = 1, std::chrono::milliseconds age = 0ms) {
    return text_of(decide_after_sending(options, end, attempts, age, 0));
}

TEST(AfterSending, an_answer_that_a_repeat_could_change_is_not_final) {
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

TEST(AfterSending, needs_a_person_when_the_key_may_be_forgotten) {
    EXPECT_EQ(after(GaveUp{}, 9, 20h - 1ms), "again in 1280000 ms");
    EXPECT_EQ(after(GaveUp{}, 9, 20h), "gave up");
    EXPECT_EQ(after(Answered{.status = 201}, 9, 30h), "finished");
}

TEST(AfterSending, reports_whether_the_other_server_may_know_of_the_request) {
    const auto undone = [](const ClientResult& end) {
        return std::get<PutOff>(decide_after_sending(options, end, 1, 0ms, 0)).undone;
    };
    EXPECT_TRUE(undone(GaveUp{}));
    EXPECT_TRUE(undone(Answered{.status = 401}));
    EXPECT_FALSE(undone(GaveUp{.in_doubt = true}));
    EXPECT_FALSE(undone(Answered{.status = 503, .in_doubt = true}));
}

TEST(MaySendAgain, a_request_may_be_sent_again_while_its_key_is_known) {
    EXPECT_TRUE(may_send_again(options, 20h - 1ms));
    EXPECT_FALSE(may_send_again(options, 20h));
}

TEST(OutboxOptions, names_an_option_out_of_its_limits) {
    EXPECT_EQ(OutboxOptions{}.problem(), std::nullopt);
    EXPECT_EQ(OutboxOptions{.at_once = 0}.problem(), "at_once is 0: 1 to 1000");
    EXPECT_EQ(OutboxOptions{.every = 1ms}.problem(), "every is 1 ms: 10 to 3600000");
    EXPECT_EQ(OutboxOptions{.wait_first = 0ms}.problem(), "wait_first is 0 ms: at least 1");
    EXPECT_EQ(
        OutboxOptions{.wait_max = 1s}.problem(), "wait_max is 1000 ms: at least wait_first, 5000 ms"
    );
    EXPECT_EQ(
        (OutboxOptions{.wait_max = 241h}.problem()), "wait_max is 867600000 ms: at most 864000000"
    );
    // Found by reading: larger values wrapped around, and answered requests were forgotten and sent
    // again.
    for (const auto hours : {std::chrono::hours{0}, 87'601h, std::chrono::hours::max()}) {
        const auto h = std::to_string(hours.count());
        EXPECT_EQ(
            OutboxOptions{.give_up_after = hours}.problem(),
            "give_up_after is " + h + " h: 1 to 87600"
        );
        EXPECT_EQ(OutboxOptions{.keep = hours}.problem(), "keep is " + h + " h: 1 to 87600");
    }
}

}  // namespace
}  // namespace pawl::client
