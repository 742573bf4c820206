#include "tests/conformance/key_world.hpp"

// Calls that were proven not made: the next one is begun once, under the fence of its attempt.
namespace pawl::conformance {

namespace {

class CallNotMadeTest : public KeyTest {
protected:
    std::int64_t call_anew(std::int64_t id, int attempt, int generation) {
        return run(
            sql::call_anew,
            id,
            attempt,
            "ride_created",
            generation,
            "next key",
            now(),
            true,
            "bank b",
            now() + 30s
        );
    }
    struct Call {
        int generation;
        std::string key;
        std::string target;
        bool calling;
    };
    Call call_of(std::int64_t id) {
        static constexpr auto find = on_all<1>(
            "find_call",
            "SELECT generation, call_key, call_target, calling FROM pawl_idempotency_keys WHERE id "
            "= $1"
        );
        return read_rows<Call>(*store, find, id).at(0);
    }
    struct Line {
        std::string provider;
        std::int64_t waiting, in_doubt, attention;
        std::optional<TimePoint> oldest;
        std::int64_t down_at;
        std::optional<TimePoint> down_since;
        std::optional<std::string> error;
    };
    std::vector<Line> providers() { return read_rows<Line>(*store, sql::list_providers); }
};
PAWL_ON_EACH_STORE(CallNotMadeTest);

}  // namespace

TEST_P(CallNotMadeTest, the_next_call_is_begun_by_its_attempt_alone_and_once) {
    const auto id = open_key("hash");

    EXPECT_EQ(call_anew(id, 2, 0), 0);
    EXPECT_EQ(call_anew(id, 1, 1), 0);
    EXPECT_EQ(call_anew(id, 1, 0), 1);
    EXPECT_EQ(call_anew(id, 1, 0), 0);  // After a commit without an answer.

    EXPECT_EQ(call_of(id).generation, 1);
    EXPECT_EQ(call_of(id).key, "next key");
    EXPECT_EQ(call_of(id).target, "bank b");
}

TEST_P(CallNotMadeTest, only_refusals_keep_a_provider_from_the_next_choice) {
    const auto id = open_key("hash");
    const auto add = [&](int generation, const char* point, const char* target, const char* proof) {
        run(sql::insert_call_not_made, id, generation, point, target, proof, "why", now());
    };
    add(0, "ordered", "bank a", "refused");
    add(1, "ordered", "bank b", "not-sent");
    add(2, "ordered", "bank c", "not-found");
    add(3, "paid", "bank d", "refused");

    EXPECT_EQ(
        read_rows<std::string>(*store, sql::find_refusals, id, "ordered"),
        std::vector<std::string>{"bank a"}
    );
}

TEST_P(CallNotMadeTest, an_inquiry_keeps_later_attempts_from_the_call) {
    const auto id = open_key("hash");

    EXPECT_EQ(run(sql::fail_inquiry, id, 2, "ride_created", "late", now()), 0);
    EXPECT_EQ(run(sql::fail_inquiry, id, 1, "ride_created", "asked", now()), 1);

    EXPECT_TRUE(call_of(id).calling);
    EXPECT_FALSE(state(id).lease_until);
}

TEST_P(CallNotMadeTest, providers_are_listed_with_what_waits_for_them) {
    const auto id = open_key("hash");
    (void)call_anew(id, 1, 0);
    to_attention(open_key("other"), 1, "in-doubt");

    for (const auto* host : {"a", "b", "c"})
        run(sql::insert_server, host, "1.0", now(), std::optional<std::int64_t>{});
    const auto down = [](const char* provider, const char* since) {
        return R"({"down":[{"provider":")" + std::string{provider} + R"(","since":")" + since +
               R"(","error":"refused"}]})";
    };
    run(sql::set_providers_down, 1, down("bank a", "2027-01-15T08:00:01.000Z"));
    run(sql::set_providers_down, 2, down("bank a", "2027-01-15T08:00:00.000Z"));
    run(sql::set_providers_down, 3, std::optional<std::string>{});

    const auto lines = providers();

    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].provider, "bank a");
    EXPECT_EQ(lines[0].waiting, 0);
    EXPECT_EQ(lines[0].down_at, 2);
    EXPECT_EQ(lines[0].down_since, TimePoint{1'800'000'000'000ms});
    EXPECT_EQ(lines[0].error, "refused");
    EXPECT_EQ(lines[1].provider, "bank b");
    EXPECT_EQ(lines[1].waiting, 1);
    EXPECT_EQ(lines[1].in_doubt, 1);
    EXPECT_EQ(lines[1].attention, 0);
    EXPECT_EQ(lines[1].oldest, now());
    EXPECT_EQ(lines[2].attention, 1);
}

// Issue 21: nothing waited for a provider that refused all connections.
TEST_P(CallNotMadeTest, a_key_waits_for_the_provider_that_refused_its_connection) {
    run(sql::clear_calling, open_key("hash"), 1, "ride_created", "refused", now());
    keep_alone(open_key("behind its call"));

    const auto lines = providers();

    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].provider, "stripe");
    EXPECT_EQ(lines[0].waiting, 1);
    EXPECT_EQ(lines[0].in_doubt, 0);
    EXPECT_EQ(lines[0].oldest, std::nullopt);
    EXPECT_EQ(lines[0].error, "refused");
}

}  // namespace pawl::conformance
