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
        400 * 24};  // Registry rows of expired keys: a late repeat gets 410 for this long.
    // How long jobs done in transactions are known, should an external queue bring one again.
    std::chrono::hours keep_done{7 * 24};
    int batch_max{500};  // Keys per transaction of 10 to 50 ms, which holds up others.
    std::optional<std::string> problem() const;
};

struct ReaperReport {
    int reaped{};     // Settled keys past their time: only their registry rows stay, as expired.
    int forgotten{};  // Registry rows removed for good.
    int done_forgotten{};     // Done jobs, too old to come again.
    int windows_forgotten{};  // Windows of once-per-window actions that are over.
    int not_removed{};        // They stay: other rows refer to them, or their own row is damaged.
};

// Removes old settled keys. Unsettled keys are never touched. Safe on several machines at once.
class Reaper {
public:
    Reaper(store::Store& store, base::Clock& clock, ReaperOptions options);  // Both outlive it.
    // One batch. For each key that can't be removed it removes another, each in a transaction of
    // its own, until the batch is full. A stop ends it after a transaction. Throws StoreError.
    ReaperReport run_once(TimePoint now, const std::stop_token& stop = {});
    void run(const std::stop_token& stop);

    // The position of a key among the due keys, oldest first. The time is the store's text to the
    // last digit: if rounded down, the same key would be found again.
    struct Place {
        std::string expires_at{"1970-01-01T00:00:00.000Z"};  // Before the first key.
        std::int64_t id{};
    };

private:
    bool reap(ReaperReport& done, Place& past, TimePoint now);

    store::Store& store_;
    base::Clock& clock_;
    ReaperOptions options_;
};

}  // namespace pawl::ops
