#include "src/http/retrying.hpp"

#include "src/engine/clock.hpp"
#include "src/engine/random.hpp"
#include "src/http/http_date.hpp"
#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

class FakeClock final : public core::Clock {
public:
    TimePoint now() override { return wall; }
    std::chrono::steady_clock::time_point steady() override {
        return std::chrono::steady_clock::time_point{wall.time_since_epoch()};
    }
    TimePoint wall{std::chrono::seconds{1'700'000'000}};
};

class FakeRandom final : public core::Random {
public:
    std::uint64_t next() override { return 0; }
};

// Time moves by waiting and by sending only, and every answer is said beforehand.
struct World {
    FakeClock clock;
    FakeRandom random;
    std::deque<Sent> answers;
    std::vector<Outgoing> sent;
    std::vector<std::chrono::milliseconds> waits;
    std::chrono::milliseconds each_takes{10};
    std::stop_source stop;
    int stop_in_wait{0};  // The number of the wait in which a stop is asked for.

    Retrying client(core::RetryRule rule = {}) {
        return Retrying{
            {.send =
                 [this](Outgoing request, const std::stop_token&) {
                     sent.push_back(std::move(request));
                     clock.wall += each_takes;
                     auto answer = std::move(answers.front());
                     answers.pop_front();
                     return answer;
                 },
             .clock = clock,
             .random = random,
             .wait =
                 [this](std::chrono::milliseconds wait, const std::stop_token&) {
                     waits.push_back(wait);
                     if (static_cast<int>(waits.size()) == stop_in_wait) stop.request_stop();
                     clock.wall += wait;
                 }},
            rule};
    }
};

const Outgoing charge{
    .method = "POST",
    .url = "http://provider.example/charges",
    .headers = {{"Idempotency-Key", "k"}},
    .body = "amount=1"};

Arrived arrived(int status, std::vector<Header> headers = {}, std::string body = {}) {
    return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

TEST(Retrying, repeats_the_same_bytes_under_the_same_key_until_there_is_an_answer) {
    World world;
    world.answers = {
        Lost{"reset"}, NotSent{"refused"}, arrived(201, {{"Idempotent-Replayed", "true"}})};

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    const auto& answered = std::get<Answered>(ended);
    EXPECT_EQ(answered.answer.status, 201);
    EXPECT_EQ(answered.tries, 3);
    EXPECT_TRUE(answered.replayed);
    EXPECT_FALSE(answered.in_doubt);
    ASSERT_EQ(world.sent.size(), 3U);
    for (const auto& request : world.sent) {
        EXPECT_EQ(request.body, "amount=1");
        EXPECT_EQ(request.headers.at(0).value, "k");
    }
    EXPECT_EQ(world.waits, (std::vector<std::chrono::milliseconds>{500ms, 500ms}));
}

TEST(Retrying, a_call_that_is_never_repeated_is_sent_once_and_never_resent) {
    World world;
    world.answers = {Lost{"reset"}};

    const auto ended = world.client().perform(charge, Repeat::never);

    const auto& gave_up = std::get<GaveUp>(ended);
    EXPECT_TRUE(gave_up.in_doubt);
    EXPECT_EQ(gave_up.why, "a repeat would not be safe: reset");
    ASSERT_EQ(world.sent.size(), 1U);
    EXPECT_TRUE(world.sent[0].never_resend);
}

TEST(Retrying, gives_up_without_doubt_only_if_nothing_was_ever_sent) {
    World none_sent;
    none_sent.answers = {NotSent{"refused"}, NotSent{"refused"}, NotSent{"refused"}};
    World one_lost;
    one_lost.answers = {NotSent{"refused"}, Lost{"reset"}, NotSent{"refused"}};

    EXPECT_FALSE(
        std::get<GaveUp>(none_sent.client().perform(charge, Repeat::safe_with_key)).in_doubt
    );
    EXPECT_TRUE(std::get<GaveUp>(one_lost.client().perform(charge, Repeat::safe_with_key)).in_doubt
    );
}

TEST(Retrying, waits_as_the_server_asks_in_seconds_or_by_date) {
    World world;
    const auto at = http_date(world.clock.now() + 8s);
    world.answers = {
        arrived(429, {{"Retry-After", "4"}}),
        arrived(503, {{"Retry-After", at}}),
        arrived(503, {{"Retry-After", "99999999999999999999"}}),
        arrived(503, {{"Retry-After", "soon"}}),
        arrived(200)};

    const auto ended = world.client({.tries_max = 9}).perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).answer.status, 200);
    // The date is 8 s after the beginning; 4 s and two tries of 10 ms have gone.
    EXPECT_EQ(world.waits, (std::vector<std::chrono::milliseconds>{4s, 3980ms, 30s, 500ms}));
}

TEST(Retrying, the_servers_own_word_decides_over_the_status) {
    World stripe;
    stripe.answers = {arrived(409, {{"Stripe-Should-Retry", "false"}})};
    World ours;
    ours.answers = {
        arrived(503, {{"Content-Type", "application/problem+json"}}, R"({"retry":false})")};
    World unreadable;
    unreadable.answers = {
        arrived(503, {{"Content-Type", "application/problem+json"}}, R"({"retry":)"), arrived(200)};

    EXPECT_EQ(std::get<Answered>(stripe.client().perform(charge, Repeat::safe_with_key)).tries, 1);
    EXPECT_EQ(std::get<Answered>(ours.client().perform(charge, Repeat::safe_with_key)).tries, 1);
    EXPECT_EQ(
        std::get<Answered>(unreadable.client().perform(charge, Repeat::safe_with_key)).tries, 2
    );
}

// Of "no", of a body that says nothing of it, and of headers that are no time, nothing is taken.
TEST(Retrying, words_that_nobody_understands_decide_nothing) {
    const Header problem{"Content-Type", "application/problem+json"};
    World world;
    world.answers = {
        arrived(503, {{"Stripe-Should-Retry", "perhaps"}}),
        arrived(503, {problem}, R"([false])"),
        arrived(503, {problem}, R"({"title":"away"})"),
        arrived(503, {problem}, R"({"retry":"no"})"),
        arrived(503, {{"Retry-After", ""}}),
        arrived(503, {{"Retry-After", "-5"}}),
        arrived(200)};

    const auto ended = world.client({.tries_max = 9}).perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).tries, 7);
    EXPECT_EQ(world.waits, std::vector<std::chrono::milliseconds>(6, 500ms));
}

TEST(Retrying, a_word_of_stripes_makes_an_answer_repeatable) {
    World world;
    world.answers = {arrived(400, {{"Stripe-Should-Retry", "true"}}), arrived(200)};

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).tries, 2);
}

TEST(Retrying, no_try_may_last_past_the_deadline) {
    World world;
    world.each_takes = 4s;
    world.answers = {Lost{"time-out"}, Lost{"time-out"}, Lost{"time-out"}, Lost{"time-out"}};
    auto request = charge;
    request.timeout = 5s;

    const auto ended =
        world.client({.tries_max = 100, .deadline = 10s}).perform(request, Repeat::safe_with_key);

    EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(std::get<GaveUp>(ended).why, "the deadline came: time-out");
    ASSERT_EQ(world.sent.size(), 3U);
    EXPECT_EQ(world.sent[0].timeout, 5s);
    EXPECT_EQ(
        world.sent[2].timeout, 1s
    );  // Of 10 s, two tries of 4 s and two waits of 0.5 s have gone.
}

TEST(Retrying, a_stop_ends_the_wait_and_keeps_the_doubt) {
    World world;
    world.answers = {Lost{"reset"}, Lost{"reset"}};
    world.stop_in_wait = 1;

    const auto ended =
        world.client().perform(charge, Repeat::safe_with_key, world.stop.get_token());

    EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(std::get<GaveUp>(ended).why, "it was stopped");
    EXPECT_EQ(world.sent.size(), 1U);
}

TEST(Retrying, stopped_before_the_first_try_it_sends_nothing) {
    World world;
    world.stop.request_stop();

    const auto ended =
        world.client().perform(charge, Repeat::safe_with_key, world.stop.get_token());

    EXPECT_FALSE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_TRUE(world.sent.empty());
}

TEST(Retrying, refuses_a_rule_with_a_problem) {
    World world;

    EXPECT_THROW(world.client({.tries_max = 0}), std::invalid_argument);
}

// Over real sockets: the first connection is cut after the request, the second answers.
TEST(Retrying, a_keyed_post_that_is_lost_once_arrives_in_the_end) {
    testing::RawServer server{[](testing::RawServer& self, testing::RawSocket& socket) {
        self.saw(socket.read_message());
        if (self.connections() == 1) return socket.reset();
        socket.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    }};
    Transfers transfers;
    const Retrying client{
        Retrying::over(transfers, engine::system_clock(), engine::system_random()),
        {.first = 1ms, .longest = 10ms, .shortest = 1ms}};
    auto request = charge;
    request.url = server.url();

    const auto ended = client.perform(request, Repeat::safe_with_key);

    ASSERT_TRUE(std::holds_alternative<Answered>(ended));
    EXPECT_EQ(std::get<Answered>(ended).answer.status, 201);
    ASSERT_EQ(server.seen().size(), 2U);
    EXPECT_EQ(server.seen()[0], server.seen()[1]);
}

TEST(Retrying, a_stop_wakes_a_real_wait) {
    Transfers transfers;
    const Retrying client{
        Retrying::over(transfers, engine::system_clock(), engine::system_random()),
        {.first = 60s, .longest = 60s, .deadline = 10min}};
    auto request = charge;
    request.url = "http://127.0.0.1:" + std::to_string(testing::closed_port());
    std::stop_source stop;
    auto ended = std::async(std::launch::async, [&] {
        return client.perform(request, Repeat::never, stop.get_token());
    });

    stop.request_stop();

    ASSERT_EQ(ended.wait_for(10s), std::future_status::ready);
    EXPECT_FALSE(std::get<GaveUp>(ended.get()).in_doubt);
}

}  // namespace
}  // namespace pawl::http
