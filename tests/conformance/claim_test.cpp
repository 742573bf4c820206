#include "src/engine/key_row.hpp"
#include "tests/conformance/key_world.hpp"

#include <thread>

// The claim, the take-over and the fence: who may write to a key.
namespace pawl::conformance {

namespace {

class ClaimTest : public KeyTest {};
PAWL_ON_EACH_STORE(ClaimTest);

}  // namespace

TEST_P(ClaimTest, of_many_claims_of_one_key_exactly_one_gets_an_id) {
    constexpr int threads = 8;
    std::atomic<int> won{0};
    std::vector<std::thread> crowd;

    for (int t = 0; t < threads; ++t)
        crowd.emplace_back([&] {
            for (int i = 0; i < 25; ++i)
                if (register_key("hash " + std::to_string(i))) ++won;
        });
    for (auto& thread : crowd) thread.join();

    EXPECT_EQ(won, 25);
}

TEST_P(ClaimTest, a_claim_that_was_rolled_back_leaves_the_key_to_the_next) {
    EXPECT_ANY_THROW(write_now(*store, [](Session& session) {
        engine::claim_key(session, "hash");
        throw std::runtime_error{"the phase failed"};
    }));

    EXPECT_TRUE(register_key("hash"));
    EXPECT_FALSE(register_key("hash"));
}

TEST_P(ClaimTest, a_key_is_found_by_hash_and_by_id_as_it_was_written) {
    const auto id = open_key("hash");

    read_now(*store, [&](Session& session) {
        for (const auto& found :
             {engine::find_key(session, "hash"), engine::find_key(session, id)}) {
            ASSERT_TRUE(found);
            EXPECT_EQ(found->id, id);
            EXPECT_EQ(found->hash, "hash");
            EXPECT_FALSE(found->expired);
            EXPECT_EQ(found->principal.tenant, "tenant");
            EXPECT_EQ(found->principal.account, "account");
            EXPECT_EQ(found->key, "key of hash");
            EXPECT_EQ(found->operation, "book_ride");
            EXPECT_EQ(found->origin, "192.0.2.1");
            EXPECT_EQ(found->fingerprint, "fingerprint");
            EXPECT_EQ(found->secret_version, 1);
            EXPECT_EQ(found->params, R"({"km":3})");
            EXPECT_EQ(found->status, core::KeyStatus::open);
            EXPECT_EQ(found->attempt, 1);
            EXPECT_EQ(found->lease_until, now() + 30s);
            EXPECT_EQ(found->recovery_point, "ride_created");
            EXPECT_EQ(found->recovery_data, R"({"ride":1})");
            EXPECT_EQ(found->call_key, "call key");
            EXPECT_EQ(found->call_target, "stripe");
            EXPECT_EQ(found->called_at, now());
            EXPECT_FALSE(found->calling);
        }
        EXPECT_FALSE(engine::find_key(session, "another hash"));
        EXPECT_FALSE(engine::find_key(session, id + 1));
    });
}

TEST_P(ClaimTest, a_key_that_ended_at_once_is_found_with_its_response) {
    const auto id = register_key("hash").value();
    run(sql::insert_key_finished,
        id,
        "hash",
        "tenant",
        "account",
        "key",
        "cancel_ride",
        "DELETE",
        "/rides/1",
        "192.0.2.1",
        "fingerprint",
        1,
        "{}",
        204,
        std::optional<std::string>{},
        "",
        "",
        now(),
        now() + 72h,
        3);

    const auto found =
        read_now(*store, [&](Session& session) { return engine::find_key(session, "hash"); });

    ASSERT_TRUE(found);
    EXPECT_EQ(found->status, core::KeyStatus::finished);
    EXPECT_EQ(found->response.status, 204);
    EXPECT_EQ(found->expires_at, now() + 72h);
    EXPECT_EQ(found->generation, 3);
}

TEST_P(ClaimTest, a_key_with_a_live_lease_is_not_taken_over) {
    const auto id = open_key("hash");

    EXPECT_EQ(take_over(id, 1), 0);
    clock.advance(30s - 1ms);
    EXPECT_EQ(take_over(id, 1), 0);

    EXPECT_EQ(state(id).attempt, 1);
}

TEST_P(ClaimTest, of_two_that_saw_the_same_attempt_one_takes_over) {
    const auto id = open_key("hash");
    clock.advance(30s);

    EXPECT_EQ(take_over(id, 1), 1);
    EXPECT_EQ(take_over(id, 1), 0);

    EXPECT_EQ(state(id).attempt, 2);
    EXPECT_EQ(state(id).lease_until, now() + 30s);
}

TEST_P(ClaimTest, a_taker_that_saw_an_earlier_attempt_gets_nothing) {
    const auto id = open_key("hash");
    clock.advance(30s);
    take_over(id, 1);
    run(sql::fail_attempt, id, 2, "ride_created", "given back at once", now());

    EXPECT_EQ(take_over(id, 1), 0);
    EXPECT_EQ(take_over(id, 2), 1);
}

// Between a taker's query and its write the earlier attempt may move on and give the key back.
TEST_P(ClaimTest, a_key_is_not_taken_over_at_a_point_that_it_has_left) {
    const auto id = open_key("hash");
    run(sql::fail_attempt, id, 1, "ride_created", "given back", now());

    EXPECT_EQ(take_over(id, 1, "started"), 0);
    EXPECT_EQ(take_over(id, 1, "ride_created"), 1);
}

TEST_P(ClaimTest, a_lease_given_back_or_impossibly_long_is_over) {
    const auto given_back = open_key("given back");
    const auto far_away = open_key("far away");
    run(sql::fail_attempt, given_back, 1, "ride_created", "a reason", now());
    run(sql::renew_lease, far_away, 1, "ride_created", now() + 61s);
    // A renewal that was in flight when the key was given back.
    EXPECT_EQ(run(sql::renew_lease, given_back, 1, "ride_created", now() + 30s), 0);

    EXPECT_EQ(take_over(given_back, 1), 1);
    EXPECT_EQ(take_over(far_away, 1), 1);
}

TEST_P(ClaimTest, a_key_that_is_finished_or_needs_a_person_is_never_taken_over) {
    const auto finished = open_key("finished");
    const auto stuck = open_key("stuck");
    finish(finished, 1, "ride_created");
    to_attention(stuck, 1);
    clock.advance(1h);

    EXPECT_EQ(take_over(finished, 1), 0);
    EXPECT_EQ(take_over(stuck, 1), 0);
}

TEST_P(ClaimTest, after_a_lost_lease_no_statement_writes) {
    const auto id = open_key("hash");
    clock.advance(30s);
    take_over(id, 1);
    const auto before = state(id);

    EXPECT_EQ(
        run(sql::move_key,
            id,
            1,
            "ride_created",
            "charged",
            "{}",
            now(),
            "k",
            now(),
            true,
            now(),
            "stripe"),
        0
    );
    EXPECT_EQ(finish(id, 1, "ride_created"), 0);
    EXPECT_EQ(run(sql::renew_lease, id, 1, "ride_created", now() + 1h), 0);
    EXPECT_EQ(run(sql::fail_attempt, id, 1, "ride_created", "error", now()), 0);
    EXPECT_EQ(run(sql::clear_calling, id, 1, "ride_created", "error", now()), 0);
    EXPECT_EQ(to_attention(id, 1), 0);

    const auto after = state(id);
    EXPECT_EQ(after.attempt, 2);
    EXPECT_EQ(after.lease_until, before.lease_until);
    EXPECT_EQ(after.recovery_point, "ride_created");
    EXPECT_EQ(after.status, "open");
    EXPECT_FALSE(after.error);
}

TEST_P(ClaimTest, a_write_from_another_recovery_point_touches_nothing) {
    const auto id = open_key("hash");

    EXPECT_EQ(
        run(sql::move_key,
            id,
            1,
            "started",
            "charged",
            "{}",
            now(),
            "k",
            now(),
            false,
            now(),
            "stripe"),
        0
    );
    EXPECT_EQ(finish(id, 1, "started"), 0);
    EXPECT_EQ(run(sql::renew_lease, id, 1, "started", now() + 1h), 0);
    EXPECT_EQ(run(sql::fail_attempt, id, 1, "started", "error", now()), 0);
    EXPECT_EQ(run(sql::clear_calling, id, 1, "started", "error", now()), 0);
    EXPECT_EQ(run(sql::to_attention, id, 1, "started", "error", now()), 0);

    EXPECT_EQ(state(id).recovery_point, "ride_created");
}

TEST_P(ClaimTest, a_move_writes_the_point_and_its_data_and_forgets_the_error) {
    const auto id = open_key("hash");
    run(sql::fail_attempt, id, 1, "ride_created", "an error", now());

    EXPECT_EQ(
        run(sql::move_key,
            id,
            1,
            "ride_created",
            "charge_created",
            R"({"ride":1,"cents":5})",
            now() + 30s,
            "next call",
            now(),
            true,
            now(),
            "bank"),
        1
    );

    const auto after = state(id);
    EXPECT_EQ(after.recovery_point, "charge_created");
    EXPECT_EQ(after.recovery_data, R"({"ride":1,"cents":5})");
    EXPECT_EQ(after.lease_until, now() + 30s);
    EXPECT_FALSE(after.error);
}

TEST_P(ClaimTest, a_key_is_finished_once_and_its_response_stays) {
    const auto id = open_key("hash");

    EXPECT_EQ(finish(id, 1, "ride_created"), 1);
    EXPECT_EQ(finish(id, 1, "ride_created"), 0);
    EXPECT_EQ(finish(id, 1, "finished"), 0);
    EXPECT_EQ(
        run(sql::move_key,
            id,
            1,
            "finished",
            "started",
            "{}",
            now(),
            "k",
            now(),
            false,
            now(),
            "stripe"),
        0
    );

    const auto found =
        read_now(*store, [&](Session& session) { return engine::find_key(session, id); });
    EXPECT_EQ(found->status, core::KeyStatus::finished);
    EXPECT_EQ(found->response.status, 201);
    EXPECT_EQ(found->response.content_type, "application/json");
    EXPECT_FALSE(found->expires_at);
    EXPECT_FALSE(found->lease_until);
}

TEST_P(ClaimTest, a_proven_retry_clears_the_mark_and_the_time_of_the_call) {
    const auto id = open_key("hash");
    run(sql::move_key,
        id,
        1,
        "ride_created",
        "calling",
        "{}",
        now() + 30s,
        "k",
        now(),
        true,
        now(),
        "bank");

    EXPECT_EQ(run(sql::clear_calling, id, 1, "calling", "not sent", now()), 1);

    const auto found =
        read_now(*store, [&](Session& session) { return engine::find_key(session, id); });
    EXPECT_FALSE(found->calling);
    EXPECT_FALSE(found->called_at);
    EXPECT_EQ(found->call_target, "bank");
    EXPECT_FALSE(found->lease_until);
    EXPECT_EQ(state(id).error, "not sent");
}

TEST_P(ClaimTest, a_server_that_starts_ends_the_leases_of_its_predecessor_only) {
    const auto held = open_key("held");
    const auto finished = open_key("finished");
    finish(finished, 1, "ride_created");
    clock.advance(1s);

    EXPECT_EQ(run(sql::end_previous_server_leases, now(), now() - 5s), 1);

    EXPECT_EQ(state(held).lease_until, now() - 5s);
    EXPECT_EQ(take_over(held, 1), 1);
    EXPECT_FALSE(state(finished).lease_until);
}

TEST_P(ClaimTest, of_many_keys_those_in_progress_are_returned) {
    open_key("held");
    const auto finished = open_key("finished");
    finish(finished, 1, "ride_created");
    to_attention(open_key("needs a person"), 1);
    const auto given_back = open_key("given back");
    run(sql::fail_attempt, given_back, 1, "ride_created", "went wrong", now());
    const auto expired = open_key("expired");
    finish(expired, 1, "ride_created");
    run(sql::expire_key, expired, 201, std::optional<std::string>{}, now());
    run(sql::delete_key, expired);
    open_key("held too, and nobody asks");
    const auto held_of = [&](const char* hashes) {
        return read_rows<std::string>(*store, sql::find_held, hashes, now(), now() + 60s);
    };
    constexpr const char* all =
        R"(["held","finished","needs a person","given back","expired","unknown"])";

    EXPECT_EQ(held_of(all), std::vector<std::string>{"held"});
    EXPECT_TRUE(held_of("[]").empty());

    clock.advance(30s);
    EXPECT_TRUE(held_of(all).empty());  // The lease is over.
    clock.advance(-61s);
    EXPECT_TRUE(held_of(all).empty());  // The lease ends later than any lease can.
}

TEST_P(ClaimTest, the_state_of_a_key_is_found_for_the_account_before_the_tenant) {
    const auto key = open_key("of account");
    const auto wide = open_key("of tenant");
    finish(wide, 1, "ride_created");
    auto told = [&](const std::string& hash, const std::string& tenant_hash) {
        return read_rows<std::string>(*store, sql::find_key_progress, hash, tenant_hash);
    };

    EXPECT_EQ(told("of account", "of tenant"), std::vector<std::string>{"ride_created"});
    EXPECT_EQ(told("nobody's", "of tenant"), std::vector<std::string>{"finished"});
    EXPECT_TRUE(told("nobody's", "nobody's").empty());
    run(sql::hold_key, key, now(), "ann", "a reason");
    EXPECT_EQ(told("of account", "of tenant"), std::vector<std::string>{"on-hold"});
    to_attention(key, 1);
    EXPECT_EQ(told("of account", "nobody's"), std::vector<std::string>{"needs-attention"});
}

}  // namespace pawl::conformance
