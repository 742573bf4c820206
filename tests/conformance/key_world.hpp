#pragma once

#include "src/engine/key_row.hpp"
#include "tests/conformance/each_store.hpp"

// Keys as the engine writes them, for tests of its statements.
namespace pawl::conformance {

// The columns that fences and take-overs use.
struct KeyState {
    std::string status;
    int attempt{};
    std::optional<TimePoint> lease_until;
    std::string recovery_point;
    std::string recovery_data;
    std::optional<std::string> error;
};

inline constexpr std::string_view key_state_text =
    "SELECT status, attempt, lease_until, recovery_point, recovery_data, error "
    "FROM pawl_idempotency_keys WHERE id = $1";
inline constexpr auto key_state = on_all<1>("key_state", key_state_text);

class KeyTest : public OnEachStore {
protected:
    template <class... A>
    std::int64_t run(const Sql& statement, const A&... arguments) {
        return write_one(*store, statement, arguments...);
    }
    TimePoint now() { return clock.now(); }
    std::optional<std::int64_t> server{7};  // That open_key() and take_over() write.
    KeyState state(std::int64_t id) { return read_rows<KeyState>(*store, key_state, id).at(0); }

    // The race of the claim: returns an id to the first only.
    std::optional<std::int64_t> register_key(const std::string& hash) {
        return write_now(*store, [&](Session& session) {
            return engine::claim_key(session, hash);
        });
    }

    // A key at recovery point "ride_created", attempt 1, with a lease of 30 s.
    std::int64_t open_key(const std::string& hash) {
        return open_key(register_key(hash).value(), hash);
    }
    std::int64_t open_key(std::int64_t id, const std::string& hash) {
        return open_key(id, hash, {"account", "key of " + hash, "book_ride"});
    }
    struct KeyOf {
        std::string account;
        std::string key;
        std::string operation;
    };
    std::int64_t open_key(std::int64_t id, const std::string& hash, const KeyOf& of) {
        run(sql::insert_key,
            id,
            hash,
            "tenant",
            of.account,
            of.key,
            of.operation,
            "POST",
            "/rides",
            "192.0.2.1",
            "fingerprint",
            1,
            R"({"km":3})",
            now() + 30s,
            "ride_created",
            R"({"ride":1})",
            "call key",
            now(),
            false,
            now(),
            std::optional<std::string>{},
            0,
            std::string{"stripe"},
            server);
        return id;
    }
    // At the phase behind its call.
    void keep_alone(std::int64_t id) {
        run(sql::move_key,
            id,
            1,
            "ride_created",
            "charge_created",
            "{}",
            now() + 30s,
            std::optional<std::string>{},
            now(),
            false,
            now(),
            "stripe");
        run(sql::fail_attempt, id, 1, "charge_created", "no such column", now());
    }
    std::int64_t finish(
        std::int64_t id,
        int attempt,
        const std::string& point,
        std::optional<TimePoint> expires_at = {}
    ) {
        return run(
            sql::finish_key,
            id,
            attempt,
            point,
            201,
            "application/json",
            "[]",
            "{}",
            now(),
            expires_at
        );
    }
    std::int64_t take_over(std::int64_t id, int seen, const std::string& point = "ride_created") {
        return run(sql::take_over, id, seen, now(), now() + 30s, now() + 60s, point, server);
    }
    std::int64_t to_attention(std::int64_t id, int attempt, const std::string& reason = "stuck") {
        return write_now(*store, [&](Session& session) {
            const auto moved =
                change(session, sql::to_attention, id, attempt, "ride_created", "why", now());
            if (moved == 1)
                change(
                    session,
                    sql::insert_attention,
                    id,
                    attempt,
                    "ride_created",
                    reason,
                    "detail",
                    now()
                );
            return moved;
        });
    }
};

}  // namespace pawl::conformance
