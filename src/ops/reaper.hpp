#pragma once

#include "src/base/clock.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace pawl::ops {

using namespace std::chrono_literals;

struct ReaperOptions {
    std::chrono::milliseconds every{10s};
    std::chrono::hours keep_expired{
        400 * 24};  // Registry rows of expired keys: so long a late repeat gets 410.
    // How long a job done in a transaction is known to be, should a queue outside bring it again.
    std::chrono::hours keep_done{7 * 24};
    int batch_max{500};  // Keys a transaction, which takes 10 to 50 ms: they hold up others.
    std::optional<std::string> problem() const;
};

struct ReaperReport {
    int reaped{};  // Settled keys whose time was over: only their registry rows stay, as expired.
    int forgotten{};          // Registry rows removed for good.
    int done_forgotten{};     // Jobs done too long ago to come again.
    int windows_forgotten{};  // Windows of once-per-window actions that were over.
    int not_removed{};        // They stay: something holds on to them, or their row is damaged.
};

// Removes settled keys that are old. Unsettled keys are never touched. Safe on several machines at
// once.
class Reaper {
public:
    Reaper(store::Store& store, base::Clock& clock, ReaperOptions options);  // Both outlive it.
    // One batch; where some of it can't be removed, others too, each in a transaction of its own,
    // until as many as a batch has are removed. A stop ends it after a transaction. Throws
    // StoreError.
    ReaperReport run_once(TimePoint now, const std::stop_token& stop = {});
    void run(const std::stop_token& stop);

    // Of a key among those that are due, which the oldest leads. Its time is as the store says it,
    // to the last digit: rounded down, it would be found again.
    struct Place {
        std::string expires_at{"1970-01-01T00:00:00.000Z"};  // Before the first.
        std::int64_t id{};
    };

private:
    bool reap(ReaperReport& done, Place& past, TimePoint now);

    store::Store& store_;
    base::Clock& clock_;
    ReaperOptions options_;
};

}  // namespace pawl::ops
