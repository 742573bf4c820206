#include "src/client/retry_machine.hpp"

#include "src/base/testing/still_clock.hpp"

#include <gtest/gtest.h>

// Several requests to one server, step by step, and their effect on the shared breaker.
namespace pawl::client {
namespace {

using namespace std::chrono_literals;
using Said = Servers::Said;

class FakeRandom final : public base::Random {
public:
    std::uint64_t next() override { return value; }
    std::uint64_t value{0};
};

const std::string server = "http://provider.example:80";

class RetryMachineTest : public ::testing::Test {
protected:
    // The server has failed, and may be tried again now.
    RetryMachineTest() {
        servers.ended(server, Said::failing, {}, clock.steady(), 0);
        clock.advance(1s);
    }
    RetryMachine machine(const Rules& rules, Repeat again = Repeat::safe_with_key) const {
        return {rules, again, server};
    }
    static bool is_sent(const RetryMachine::Next& next) {
        return std::holds_alternative<RetryMachine::Send>(next);
    }
    bool another_is_sent() { return is_sent(machine(hasty).next()); }

    base::StillClock clock;
    FakeRandom random;
    Servers servers{{}, {.failures_max = 1, .first = 1s, .longest = 1s, .probe_max = 60s}};
    const Rules patient{
        .retry = {.deadline = 60s}, .servers = servers, .clock = clock, .random = random};
    // Its deadline comes before the server may be tried again.
    const Rules hasty{
        .retry = {.deadline = 500ms}, .servers = servers, .clock = clock, .random = random};
};

}  // namespace

// Issue 16, number 22. A request that was never sent ended another's probe, and any number of
// requests went to a server that was down.
TEST_F(RetryMachineTest, a_request_that_the_breaker_refuses_does_not_end_anothers_probe) {
    auto probe = machine(patient);
    ASSERT_TRUE(is_sent(probe.next()));

    auto refused = machine(hasty);
    EXPECT_TRUE(std::holds_alternative<ClientResult>(refused.next()));

    EXPECT_FALSE(another_is_sent());
}

TEST_F(RetryMachineTest, a_stopped_wait_for_the_breaker_does_not_end_anothers_probe) {
    auto probe = machine(patient);
    ASSERT_TRUE(is_sent(probe.next()));

    auto waits = machine(patient);
    ASSERT_TRUE(std::holds_alternative<RetryMachine::Wait>(waits.next()));
    (void)waits.given_up("it was stopped");

    EXPECT_FALSE(another_is_sent());
}

TEST_F(RetryMachineTest, a_request_reports_nothing_between_its_tries) {
    auto first = machine(patient);
    ASSERT_TRUE(is_sent(first.next()));
    ASSERT_TRUE(std::holds_alternative<RetryMachine::Wait>(first.after(http::Lost{"reset"})));
    clock.advance(1s);
    auto probe = machine(patient);
    ASSERT_TRUE(is_sent(probe.next()));

    (void)first.given_up("it was stopped");

    EXPECT_FALSE(another_is_sent());
}

TEST_F(RetryMachineTest, a_probe_that_is_stopped_or_given_up_lets_another_go) {
    auto stopped = machine(patient);
    ASSERT_TRUE(is_sent(stopped.next()));
    (void)stopped.stopped(http::Lost{"it was stopped"});

    auto given_up = machine(patient);
    ASSERT_TRUE(is_sent(given_up.next()));
    (void)given_up.given_up("it was stopped before it was sent");

    EXPECT_TRUE(another_is_sent());
}

TEST_F(RetryMachineTest, an_answer_closes_the_breaker_and_a_failure_does_not) {
    struct Case {
        const char* name;
        http::Sent sent;
        bool closes;
    };
    const Case cases[] = {
        {"an answer", http::IncomingResponse{.status = 200, .headers = {}, .body = {}}, true},
        {"a refusal", http::IncomingResponse{.status = 400, .headers = {}, .body = {}}, true},
        {"too many requests",
         http::IncomingResponse{.status = 429, .headers = {}, .body = {}},
         true},
        {"not implemented", http::IncomingResponse{.status = 501, .headers = {}, .body = {}}, true},
        {"no such version", http::IncomingResponse{.status = 505, .headers = {}, .body = {}}, true},
        {"a stored failure",
         http::IncomingResponse{
             .status = 500, .headers = {{"Idempotent-Replayed", "true"}}, .body = {}},
         true},
        {"a failure", http::IncomingResponse{.status = 500, .headers = {}, .body = {}}, false},
        {"too busy", http::IncomingResponse{.status = 503, .headers = {}, .body = {}}, false},
        {"no way to it", http::NotSent{"refused"}, false},
        {"a loss", http::Lost{"reset"}, false}};
    for (const auto& c : cases) {
        Servers own{{}, {.failures_max = 1, .first = 1s, .longest = 1s, .probe_max = 60s}};
        own.ended(server, Said::failing, {}, clock.steady(), 0);
        clock.advance(1s);
        const Rules rules{.retry = {}, .servers = own, .clock = clock, .random = random};
        auto probe = machine(rules, Repeat::never);
        ASSERT_TRUE(is_sent(probe.next())) << c.name;

        (void)probe.after(c.sent);

        EXPECT_EQ(is_sent(machine(rules).next()), c.closes) << c.name;
    }
}

// A request that can't be sent shows nothing of the server, but ends its probe.
TEST_F(RetryMachineTest, a_request_that_can_never_be_sent_does_not_change_the_breaker) {
    auto hopeless = machine(patient);
    ASSERT_TRUE(is_sent(hopeless.next()));
    (void)hopeless.after(http::NotSent{"a bad header", true});

    auto probe = machine(patient);
    EXPECT_TRUE(is_sent(probe.next()));
    EXPECT_FALSE(another_is_sent());
}

TEST_F(RetryMachineTest, a_wait_for_the_breaker_that_ends_with_the_deadline_is_not_begun) {
    Servers open{{}, {.failures_max = 1, .first = 10s, .longest = 10s, .probe_max = 60s}};
    open.ended(server, Said::failing, {}, clock.steady(), 0);
    const auto next_within = [&](std::chrono::milliseconds deadline) {
        const Rules rules{
            .retry = {.deadline = deadline}, .servers = open, .clock = clock, .random = random};
        return machine(rules).next();
    };

    EXPECT_TRUE(std::holds_alternative<ClientResult>(next_within(9'999ms)));
    EXPECT_TRUE(std::holds_alternative<ClientResult>(next_within(10s)));
    const auto waits = next_within(10'001ms);
    ASSERT_TRUE(std::holds_alternative<RetryMachine::Wait>(waits));
    EXPECT_EQ(std::get<RetryMachine::Wait>(waits).wait, 10s);
}

TEST_F(RetryMachineTest, a_try_ends_at_the_deadline_and_none_begins_after_it) {
    auto one = machine(patient);
    clock.advance(20s);
    EXPECT_EQ(std::get<RetryMachine::Send>(one.next()).timeout_max, 40s);

    clock.advance(40s);
    EXPECT_TRUE(std::holds_alternative<ClientResult>(one.next()));
}

TEST_F(RetryMachineTest, a_stop_in_an_unsent_try_keeps_the_doubt_of_earlier_tries) {
    auto one = machine(patient);
    ASSERT_TRUE(is_sent(one.next()));
    ASSERT_TRUE(std::holds_alternative<RetryMachine::Wait>(one.after(http::Lost{"reset"})));
    clock.advance(2s);
    ASSERT_TRUE(is_sent(one.next()));

    EXPECT_TRUE(one.stopped(http::NotSent{"it was stopped"}).in_doubt);
}

// Two tests of the retry budget: one token at once, and one more each ten seconds.
class RetryMachineBudgetTest : public ::testing::Test {
protected:
    RetryMachine::Next after_loss(RetryMachine& machine) {
        if (!std::holds_alternative<RetryMachine::Send>(machine.next()))
            ADD_FAILURE() << "not sent";
        return machine.after(http::Lost{"reset"});
    }
    Rules rules(std::chrono::milliseconds deadline) {
        return {
            .retry =
                {.first = 100ms,
                 .longest = 20s,
                 .shortest = 100ms,
                 .tries_max = 10,
                 .deadline = deadline},
            .servers = servers,
            .clock = clock,
            .random = random};
    }
    base::StillClock clock;
    FakeRandom random;
    Servers servers{{.each_success = 1, .per_s = 0.1, .burst = 1}, {.failures_max = 0}};
};

TEST_F(RetryMachineBudgetTest, a_repeat_whose_token_comes_with_the_deadline_is_not_waited_for) {
    const auto given = rules(10s);
    RetryMachine one{given, Repeat::safe_with_key, server};

    EXPECT_TRUE(std::holds_alternative<RetryMachine::Wait>(after_loss(one)));
    EXPECT_TRUE(std::holds_alternative<ClientResult>(after_loss(one)));
}

TEST_F(RetryMachineBudgetTest, a_wait_for_a_token_does_not_make_the_next_wait_longer) {
    random.value = ~std::uint64_t{0};  // The longest waits.
    const auto given = rules(10min);
    RetryMachine one{given, Repeat::safe_with_key, server};
    ASSERT_TRUE(std::holds_alternative<RetryMachine::Wait>(after_loss(one)));
    EXPECT_EQ(std::get<RetryMachine::Wait>(after_loss(one)).wait, 10s);
    clock.advance(10s);
    // Another request's success adds a token.
    servers.ended(server, Said::well, {}, clock.steady(), 0);

    EXPECT_LT(std::get<RetryMachine::Wait>(after_loss(one)).wait, 5s);
}

}  // namespace pawl::client
