#include "src/client/retrying.hpp"

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/base/testing/still_clock.hpp"
#include "src/http/http_date.hpp"
#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <string>
#include <vector>

namespace pawl::client::retrying_test {
namespace {

using namespace std::chrono_literals;
using http::IncomingResponse;
using http::Lost;
using http::NotSent;
using http::OutgoingRequest;
using http::Sent;
using http::Transfers;

class FakeRandom final : public base::Random {
public:
    std::uint64_t next() override { return value; }
    std::uint64_t value{0};
};

// Time moves only by waiting and sending. Answers are given in advance; the last one repeats.
struct World {
    base::StillClock clock;
    FakeRandom random;
    std::deque<Sent> answers;
    std::vector<OutgoingRequest> sent;
    std::vector<std::chrono::milliseconds> waits;
    std::chrono::milliseconds each_takes{10};
    std::stop_source stop;
    int stop_in_send{0};  // The number of the try during which a stop is requested.
    int stop_in_wait{0};  // The number of the wait during which a stop is requested.

    Retrying client(core::RetryRule rule = {}) { return client(Retrying::Limits{.retry = rule}); }
    Retrying client(Retrying::Limits limits) {
        return Retrying{
            {.send =
                 [this](OutgoingRequest request, const std::stop_token&) {
                     sent.push_back(std::move(request));
                     if (static_cast<int>(sent.size()) == stop_in_send) stop.request_stop();
                     clock.advance(each_takes);
                     auto answer = answers.front();
                     if (answers.size() > 1) answers.pop_front();
                     return answer;
                 },
             .clock = clock,
             .random = random,
             .wait =
                 [this](std::chrono::milliseconds wait, const std::stop_token&) {
                     waits.push_back(wait);
                     if (static_cast<int>(waits.size()) == stop_in_wait) stop.request_stop();
                     clock.advance(wait);
                 }},
            std::move(limits)};
    }
};

const OutgoingRequest charge{
    .method = "POST",
    .url = "http://provider.example/charges",
    .headers = {{"Idempotency-Key", "k"}},
    .body = "amount=1"};

IncomingResponse arrived(int status, std::vector<Header> headers = {}, std::string body = {}) {
    return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

TEST(Retrying, repeats_the_same_bytes_under_the_same_key_until_there_is_an_answer) {
    World world;
    world.answers = {
        Lost{"reset"}, NotSent{"refused"}, arrived(201, {{"Idempotent-Replayed", "true"}})};

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    const auto& answered = std::get<Answered>(ended);
    EXPECT_EQ(answered.status, 201);
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

TEST(Retrying, a_call_that_is_never_repeated_is_sent_once) {
    World world;
    world.answers = {Lost{"reset"}};

    const auto ended = world.client().perform(charge, Repeat::never);

    const auto& gave_up = std::get<GaveUp>(ended);
    EXPECT_TRUE(gave_up.in_doubt);
    EXPECT_EQ(gave_up.why, "a repeat would not be safe: lost: reset");
    ASSERT_EQ(world.sent.size(), 1U);
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
    const auto at = http::http_date(world.clock.now() + 8s);
    world.answers = {
        arrived(429, {{"Retry-After", "4"}}),
        arrived(503, {{"Retry-After", at}}),
        arrived(503, {{"Retry-After", "99999999999999999999"}}),
        arrived(503, {{"Retry-After", "soon"}}),
        arrived(200)};

    const auto ended = world.client({.tries_max = 9}).perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).status, 200);
    // The date is 8 s after the start; 4 s and two tries of 10 ms have passed.
    EXPECT_EQ(world.waits, (std::vector<std::chrono::milliseconds>{4s, 3980ms, 30s, 500ms}));
}

TEST(Retrying, the_servers_own_hint_overrides_the_status) {
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

// Ignores "no", a body without `retry`, and headers that are not times.
TEST(Retrying, unknown_hints_are_ignored) {
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

TEST(Retrying, stripes_hint_makes_an_answer_repeatable) {
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
    EXPECT_EQ(std::get<GaveUp>(ended).why, "the deadline came: lost: time-out");
    ASSERT_EQ(world.sent.size(), 3U);
    EXPECT_EQ(world.sent[0].timeout, 5s);
    EXPECT_EQ(
        world.sent[2].timeout, 1s
    );  // Of 10 s, two tries of 4 s and two waits of 0.5 s have passed.
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

// A stop shows nothing of the server: its breaker does not count it.
TEST(Retrying, a_stop_during_a_try_keeps_the_doubt_and_does_not_count_as_failure) {
    World world;
    world.answers = {Lost{"it was stopped"}, arrived(200)};
    const auto client = world.client({.breaker = {.failures_max = 1}});
    world.stop_in_send = 1;

    const auto ended = client.perform(charge, Repeat::safe_with_key, world.stop.get_token());
    const auto next = client.perform(charge, Repeat::safe_with_key);

    EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(std::get<GaveUp>(ended).tries, 1);
    EXPECT_EQ(std::get<Answered>(next).tries, 1);
    EXPECT_TRUE(world.waits.empty());
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

TEST(Retrying, a_request_that_was_not_sent_costs_no_try) {
    World world;
    world.answers = {
        NotSent{"refused"},
        NotSent{"refused"},
        NotSent{"refused"},
        NotSent{"refused"},
        Lost{"reset"},
        NotSent{"refused"},
        arrived(503),
        arrived(201)};

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).status, 201);
    EXPECT_EQ(std::get<Answered>(ended).tries, 8);
}

TEST(Retrying, an_earlier_try_in_progress_is_waited_for) {
    World world;
    world.answers = std::deque<Sent>(7, arrived(409, {{"Retry-After", "2"}}));
    world.answers.push_back(arrived(201, {{"Idempotent-Replayed", "true"}}));

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    EXPECT_TRUE(std::get<Answered>(ended).replayed);
    EXPECT_EQ(world.waits, std::vector<std::chrono::milliseconds>(7, 2s));
}

TEST(Retrying, a_request_that_can_never_be_sent_ends_at_once) {
    World world;
    world.answers = {NotSent{"the header has a control character", true}};

    const auto ended = world.client().perform(charge, Repeat::safe_with_key);

    EXPECT_FALSE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(
        std::get<GaveUp>(ended).why,
        "it can never be sent: not sent: the header has a control character"
    );
    EXPECT_TRUE(world.waits.empty());
}

TEST(Retrying, repeats_wait_for_the_servers_budget_or_are_not_made) {
    World world;
    world.answers = {arrived(503)};
    const auto client =
        world.client({.retry = {.tries_max = 9}, .budget = {.per_s = 0.1, .burst = 1}});

    const auto first = client.perform(charge, Repeat::safe_with_key);
    const auto second = client.perform(charge, Repeat::safe_with_key);

    // One at once, then one each ten seconds, up to the deadline of a minute.
    EXPECT_EQ(std::get<Answered>(first).tries, 7);
    EXPECT_EQ(world.waits.at(0), 500ms);
    EXPECT_GT(world.waits.at(1), 9s);
    EXPECT_TRUE(std::get<Answered>(first).in_doubt);
    EXPECT_LE(std::get<Answered>(second).tries, 7);
}

TEST(Retrying, a_lost_request_whose_repeat_has_no_budget_stays_in_doubt) {
    World world;
    world.answers = {Lost{"reset"}};
    const auto client = world.client({.budget = {.per_s = 0.001, .burst = 1}});

    (void)client.perform(charge, Repeat::safe_with_key);
    const auto ended = client.perform(charge, Repeat::safe_with_key);

    EXPECT_TRUE(std::get<GaveUp>(ended).in_doubt);
    EXPECT_EQ(
        std::get<GaveUp>(ended).why,
        "the budget of repeats to http://provider.example:80 is used up: lost: reset"
    );
}

TEST(Retrying, a_server_that_has_failed_too_often_gets_no_requests_for_a_while) {
    World world;
    world.answers = {NotSent{"refused"}};
    const auto client = world.client(
        {.retry = {.first = 1ms, .longest = 1ms, .shortest = 1ms, .deadline = 10s},
         .breaker = {.failures_max = 3, .first = 3s}}
    );

    const auto ended = client.perform(charge, Repeat::safe_with_key);

    EXPECT_FALSE(std::get<GaveUp>(ended).in_doubt);
    // Three, the probe after 3 s, and another 6 s later.
    EXPECT_EQ(world.sent.size(), 5U);
    world.answers = {arrived(200)};
    const auto next = client.perform(charge, Repeat::safe_with_key);
    EXPECT_EQ(world.sent.size(), 5U);
    EXPECT_EQ(std::get<GaveUp>(next).tries, 0);
    EXPECT_FALSE(std::get<GaveUp>(next).in_doubt);
}

TEST(Retrying, a_probe_that_was_not_sent_or_stopped_lets_another_probe_go) {
    World world;
    world.answers = {
        Lost{"reset"}, NotSent{"a bad header", true}, Lost{"it was stopped"}, Lost{"reset"}};
    const auto client = world.client(
        {.retry = {.tries_max = 1, .deadline = 500ms},
         .breaker = {.failures_max = 1, .first = 1s, .probe_max = 60s}}
    );
    const auto tries = [&](const std::stop_token& stop = {}) {
        (void)client.perform(charge, Repeat::safe_with_key, stop);
        return world.sent.size();
    };
    world.stop_in_send = 3;
    EXPECT_EQ(tries(), 1U);
    EXPECT_EQ(tries(), 1U);  // It is open.
    world.clock.advance(1s);
    EXPECT_EQ(tries(), 2U);
    EXPECT_EQ(tries(world.stop.get_token()), 3U);
    EXPECT_EQ(tries(world.stop.get_token()), 3U);  // Stopped before it is sent.
    EXPECT_EQ(tries(), 4U);
    world.clock.advance(1s);
    EXPECT_EQ(tries(), 4U);  // Open for twice as long: none of them has closed it.
}

// Found by reading: half of those that waited here slept until their deadline and were never sent.
TEST(Retrying, a_wait_for_a_breaker_leaves_time_for_a_try) {
    World world;
    world.random.value = ~std::uint64_t{0};  // The longest spread.
    world.answers = {Lost{"reset"}, arrived(201)};
    const auto client = world.client(
        {.retry = {.deadline = 60s},
         .breaker = {.failures_max = 1, .first = 20s, .longest = 20s, .probe_max = 20s}}
    );

    const auto ended = client.perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(std::get<Answered>(ended).status, 201);
    EXPECT_GT(world.sent.back().timeout, 10s);  // Worth a try.
}

TEST(Retrying, reports_each_try_and_what_follows) {
    World world;
    world.answers = {Lost{"reset"}, arrived(201)};
    std::vector<std::string> told;
    const auto client = world.client({.on_try = [&](const ClientTry& one) {
        told.push_back(
            std::to_string(one.number) + " " + one.what + " " + std::to_string(one.took.count()) +
            " ms" +
            (one.again_in ? ", again in " + std::to_string(one.again_in->count()) + " ms" : "")
        );
    }});

    (void)client.perform(charge, Repeat::safe_with_key);

    EXPECT_EQ(
        told,
        (std::vector<std::string>{"1 lost: reset 10 ms, again in 500 ms", "2 answered 201 10 ms"})
    );
}

// Over real sockets: the first connection is cut after the request, the second answers.
TEST(Retrying, a_keyed_post_that_is_lost_once_arrives_in_the_end) {
    http::testing::RawServer server{
        [](http::testing::RawServer& self, http::testing::RawSocket& socket) {
            self.saw(socket.read_message());
            if (self.connections() == 1) return socket.reset();
            socket.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        }};
    Transfers transfers;
    const Retrying client{
        Retrying::over(transfers, base::system_clock(), base::system_random()),
        {.retry = {.first = 1ms, .longest = 10ms, .shortest = 1ms}}};
    auto request = charge;
    request.url = server.url();

    const auto ended = client.perform(request, Repeat::safe_with_key);

    ASSERT_TRUE(std::holds_alternative<Answered>(ended));
    EXPECT_EQ(std::get<Answered>(ended).status, 201);
    ASSERT_EQ(server.seen().size(), 2U);
    EXPECT_EQ(server.seen()[0], server.seen()[1]);
}

TEST(Retrying, a_stop_wakes_a_real_wait) {
    Transfers transfers;
    const Retrying client{
        Retrying::over(transfers, base::system_clock(), base::system_random()),
        {.retry = {.first = 60s, .longest = 60s, .deadline = 10min}}};
    auto request = charge;
    request.url = "http://127.0.0.1:" + std::to_string(http::testing::closed_port());
    std::stop_source stop;
    auto ended = std::async(std::launch::async, [&] {
        return client.perform(request, Repeat::never, stop.get_token());
    });

    stop.request_stop();

    ASSERT_EQ(ended.wait_for(10s), std::future_status::ready);
    EXPECT_FALSE(std::get<GaveUp>(ended.get()).in_doubt);
}

}  // namespace
}  // namespace pawl::client::retrying_test
