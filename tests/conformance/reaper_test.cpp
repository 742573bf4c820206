#include "src/ops/reaper.hpp"

#include "src/engine/key_row.hpp"
#include "tests/conformance/key_world.hpp"

// What the reaper removes, many keys at once, and what it keeps.
namespace pawl::conformance {

namespace {

// An application's table with a foreign key onto ours, against the advice of the docs.
constexpr Sql create_held = on_all(
    "create_held",
    "CREATE TABLE held (key_id BIGINT NOT NULL REFERENCES pawl_idempotency_keys (id))"
);
constexpr auto hold = on_all<1>("hold", "INSERT INTO held (key_id) VALUES ($1)");
constexpr auto set_generation =
    on_all<1>("set_generation", "UPDATE pawl_idempotency_keys SET generation = 3 WHERE id = $1");
constexpr auto set_attention = on_all<1>(
    "set_attention", "UPDATE pawl_idempotency_keys SET status = 'attention' WHERE id = $1"
);
constexpr auto let_go = on_all("let_go", "DELETE FROM held");
constexpr Sql set_odd_expiry{
    "set_odd_expiry",
    "UPDATE pawl_idempotency_keys SET expires_at = '2027-01-15T07:59:59.9999Z'",
    "UPDATE pawl_idempotency_keys SET expires_at = '2027-01-15T07:59:59.9999Z'"};
constexpr Sql generations = on_all(
    "generations", "SELECT generation FROM pawl_key_registry WHERE state = 'expired' ORDER BY id"
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

TEST_P(ReaperTest, a_batch_is_removed_and_keeps_what_a_late_repeat_needs) {
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

TEST_P(ReaperTest, a_held_key_stays_whole_and_the_rest_of_its_batch_is_removed) {
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

TEST_P(ReaperTest, a_held_key_stays_at_any_place_of_its_batch_until_it_is_free) {
    write_one(*store, create_held);
    for (int held = 0; held < 5; ++held) {
        std::vector<std::string> hashes;
        for (int n = 0; n < 5; ++n) {
            hashes.push_back(std::to_string(held) + std::to_string(n));
            const auto id = old_key(hashes.back());
            if (n == held) run(hold, id);
        }
        const auto first = reap();
        for (int n = 0; n < 5; ++n)
            EXPECT_EQ(find(hashes.at(static_cast<std::size_t>(n))).expired, n != held) << held;
        const auto while_held = reap();
        write_one(*store, let_go);

        const auto free = reap();

        EXPECT_EQ((std::vector{first.reaped, first.not_removed}), (std::vector{4, 1}));
        EXPECT_EQ((std::vector{while_held.reaped, while_held.not_removed}), (std::vector{0, 1}));
        EXPECT_EQ((std::vector{free.reaped, free.not_removed}), (std::vector{1, 0}));
        EXPECT_TRUE(find(hashes.at(static_cast<std::size_t>(held))).expired);
    }
}

TEST_P(ReaperTest, a_round_goes_on_after_a_batch_with_held_keys) {
    write_one(*store, create_held);
    for (const auto* hash : {"a", "b", "c", "d", "e"}) {
        const auto id = old_key(hash);
        if (*hash == 'a') run(hold, id);
        clock.advance(1ms);
    }

    const auto report = reap(2);

    EXPECT_EQ(report.reaped, 3);
    EXPECT_EQ(report.not_removed, 1);
    EXPECT_TRUE(find("d").expired);
    EXPECT_FALSE(find("e").expired);
}

TEST_P(ReaperTest, held_keys_of_one_moment_are_skipped_one_by_one) {
    write_one(*store, create_held);
    for (const auto* hash : {"a", "b", "c"}) run(hold, old_key(hash));
    old_key("free");

    const auto report = reap(1);

    EXPECT_EQ(report.reaped, 1);
    EXPECT_EQ(report.not_removed, 3);
}

// As an operator may have written it.
TEST_P(ReaperTest, a_held_key_with_a_fraction_of_a_millisecond_is_skipped_once) {
    write_one(*store, create_held);
    run(hold, old_key("held"));
    run(set_odd_expiry);

    EXPECT_EQ(reap(1).not_removed, 1);
}

TEST_P(ReaperTest, batches_of_held_keys_are_skipped_until_one_can_be_removed) {
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

// No statement of ours does this to a due key. The changes to its registry row are rolled back.
TEST_P(ReaperTest, a_key_that_is_due_but_not_settled_stays_whole_in_a_batch_and_alone) {
    const auto id = old_key("stuck");
    run(set_attention, id);
    old_key("other");

    const auto in_a_batch = reap();
    const auto alone = reap();

    EXPECT_EQ((std::vector{in_a_batch.reaped, in_a_batch.not_removed}), (std::vector{1, 1}));
    EXPECT_EQ((std::vector{alone.reaped, alone.not_removed}), (std::vector{0, 1}));
    EXPECT_FALSE(find("stuck").expired);
    EXPECT_TRUE(find("other").expired);
}

TEST_P(ReaperTest, a_batch_contains_no_key_that_is_open_or_waits_for_a_person) {
    const auto open = open_key("open");
    const auto stuck = open_key("stuck");
    to_attention(stuck, 1);
    const auto batch =
        R"({"keys":[{"id":)" + std::to_string(open) + R"(},{"id":)" + std::to_string(stuck) + "}]}";

    EXPECT_EQ(run(sql::delete_keys, batch), 0);
}

}  // namespace pawl::conformance
