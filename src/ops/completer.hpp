#pragma once

#include "src/base/repeat_limit.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/rounds.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::ops {

using namespace std::chrono_literals;

struct CompleterOptions {
    // After the end of the lease: time for the client to retry by itself. The keys of a server that
    // has died do not wait for it.
    std::chrono::milliseconds grace{5s};
    std::chrono::milliseconds every{1s};
    // After a settlement was decided: time to take it back.
    std::chrono::milliseconds settle_after{30s};
    int batch_max{100};  // Keys per round, and as many settlements.
    std::optional<std::string> problem() const;
};

struct CompleterReport {
    int completed{};  // Answered now.
    int failed{};     // Will be tried again.
    int to_person{};  // Reached the cap, or its call put it on the attention list.
    int stranded{};   // Its stored data do not decode here (PAWL0007).
    int left{};       // To a server whose provider or secret is the key's.
    int settled{};    // Decisions of people that were carried out.
    int settling_failed{};
};

// Finishes requests whose clients have dropped them, with the stored principal, and carries out
// people's decisions on the attention list. Safe on several machines at once: each key is taken
// over under the usual fence. Which keys: find_completable in src/store/sql/keys.sql. Keys at
// points that this program does not know are left alone, and the log names the points. When it
// stops trying a key: src/core/completer_cap.hpp.
class Completer {
public:
    Completer(engine::Engine& engine, CompleterOptions options);  // The engine outlives it.
    // One round: at most batch_max keys and settlements. Returns after all of them have ended.
    // Throws StoreError.
    CompleterReport run_once();
    void run(const std::stop_token& stop);
    // Whether a round would find a key or a settlement. Throws StoreError.
    bool has_work();
    // Leases have ended: run() begins a round at once.
    void wake() { wake_.wake(); }

private:
    void warn_of_stranded();
    void retry_defects();
    void complete_dropped(CompleterReport& report);
    void settle_decided(CompleterReport& report);
    void note_failure_or_log(
        std::int64_t key_id, const engine::Rejection& refused, CompleterReport& report
    );
    void put_off(std::int64_t key_id, const engine::Rejection& refused);
    void log_left(const engine::KeyRow& row, const engine::Rejection& refused);
    std::vector<std::int64_t> find_dropped();
    std::vector<engine::Settlement> find_decided();
    void note_failure(
        std::int64_t key_id, const engine::Rejection& refused, CompleterReport& report
    );

    // A key whose runs have failed often.
    struct Failing {
        int runs{};
        engine::KeyRow row{};
        bool capped{};  // It was put on the attention list.
        std::string error{};
    };
    std::optional<Failing> note_failed_run(
        store::Session& session, std::int64_t key_id, const engine::Rejection& refused
    );
    bool hand_to_person(store::Session& session, const Failing& failing);

    engine::Engine& engine_;
    CompleterOptions options_;
    Wake wake_;
    base::RepeatLimit stuck_{{.window = std::chrono::hours{24}}};     // Of each key.
    base::RepeatLimit stranded_{{.window = std::chrono::hours{24}}};  // Of each point.
    base::RepeatLimit left_{{.window = std::chrono::hours{24}}};      // Of each point.
    std::optional<base::RepeatLimit::Time> looked_for_stranded_at_;
    bool retried_defects_{false};
};

}  // namespace pawl::ops
