#include "src/ops/reaper.hpp"

#include "src/engine/key_row.hpp"
#include "tests/conformance/key_world.hpp"

// What the reaper removes, many keys at once, and what it leaves.
namespace pawl::conformance {

namespace {

// An application's table with a foreign key onto ours, against the advice of the docs.
constexpr Sql create_held = on_all(
    "create_held", "CREATE TABLE held (key_id BIGINT NOT NULL REFERENCES idempotency_keys (id))"
);
constexpr auto hold = on_all<1>("hold", "INSERT INTO held (key_id) VALUES ($1)");
constexpr auto set_generation =
    on_all<1>("set_generation", "UPDATE idempotency_keys SET generation = 3 WHERE id = $1");
constexpr Sql generations = on_all(
    "generations", "SELECT generation FROM key_registry WHERE state = 'expired' ORDER BY id"
);

class ReaperTest : public KeyTest {
protected:
    std::int64_t old_key(const std::string& hash, const std::string& headers = "") {
        const auto id = open_key(hash);
        EXPECT_EQ(
            run(sql::finish_key, id, 1, "ride_created", 201, "t", headers, "{}", now(), now()), 1
        );
        return id;
    }
    ops::ReaperReport reap(int batch_max = 500) {
        return ops::Reaper{*store, clock, {.batch_max = batch_max}}.run_once(now());
    }
    engine::KeyRow find(const std::string& hash) {
        return read_now(*store, [&](Session& session) {
            return engine::find_key(session, hash).value();
        });
    }
};
PAWL_ON_EACH_STORE(ReaperTest);

}  // namespace

TEST_P(ReaperTest, a_batch_goes_with_what_a_late_repeat_is_told) {
    old_key("made", R"({"headers":[{"name":"Location","value":"/rides/\"7\""}]})");
    old_key("plain");

    EXPECT_EQ(reap().reaped, 2);

    EXPECT_TRUE(find("made").expired);
    EXPECT_EQ(find("made").outcome, 201);
    EXPECT_EQ(find("made").location, "/rides/\"7\"");
    EXPECT_TRUE(find("plain").expired);
    EXPECT_EQ(find("plain").location, std::nullopt);
}

TEST_P(ReaperTest, the_generation_of_each_key_outlives_its_row) {
    old_key("first");
    run(set_generation, old_key("second"));

    reap();

    EXPECT_EQ(read_rows<int>(*store, generations), (std::vector<int>{0, 3}));
}

TEST_P(ReaperTest, a_round_removes_no_more_than_a_batch) {
    for (const auto* hash : {"a", "b", "c"}) {
        old_key(hash);
        clock.advance(1ms);
    }

    EXPECT_EQ(reap(2).reaped, 2);

    EXPECT_TRUE(find("b").expired);
    EXPECT_FALSE(find("c").expired);
    EXPECT_EQ(reap(2).reaped, 1);
    EXPECT_EQ(reap(2).reaped, 0);
}

TEST_P(ReaperTest, what_is_held_stays_whole_and_the_rest_of_its_batch_goes) {
    write_one(*store, create_held);
    old_key("before");
    run(hold, old_key("held"));
    old_key("after");

    const auto report = reap();

    EXPECT_EQ(report.reaped, 2);
    EXPECT_EQ(report.not_removed, 1);
    EXPECT_TRUE(find("before").expired && find("after").expired);
    EXPECT_FALSE(find("held").expired);
    EXPECT_EQ(find("held").response.status, 201);
}

TEST_P(ReaperTest, batches_of_held_keys_are_passed_over_until_one_can_go) {
    write_one(*store, create_held);
    for (const auto* hash : {"a", "b", "c"}) {
        run(hold, old_key(hash));
        clock.advance(1ms);
    }
    old_key("free");

    const auto report = reap(1);

    EXPECT_EQ(report.reaped, 1);
    EXPECT_EQ(report.not_removed, 3);
    EXPECT_TRUE(find("free").expired);
    EXPECT_EQ(reap(1).not_removed, 3);
}

TEST_P(ReaperTest, a_batch_takes_no_key_that_is_open_or_waits_for_a_person) {
    const auto open = open_key("open");
    const auto stuck = open_key("stuck");
    to_attention(stuck, 1);
    const auto batch =
        R"({"keys":[{"id":)" + std::to_string(open) + R"(},{"id":)" + std::to_string(stuck) + "}]}";

    EXPECT_EQ(run(sql::delete_batch, batch), 0);
}

}  // namespace pawl::conformance
