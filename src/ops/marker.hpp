#pragma once

#include "src/core/restore_gap.hpp"
#include "src/engine/engine.hpp"
#include "src/ops/mark_file.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace pawl::ops {

using namespace std::chrono_literals;

struct MarkerOptions {
    std::string file{};  // A path outside the database; empty: a restore is not noticed.
    std::chrono::milliseconds every{1s};
    std::chrono::hours repeats_for{72};  // How long clients may repeat requests lost by a restore.
};

// Opens an epoch; decided by a person, or by a server that has noticed a restore.
struct Restore {
    TimePoint lost_since;
    TimePoint keys_until;
    std::string by;
    std::string detail;
};
// Returns the epoch's number. Writes in the transaction of `session`, with its audit entry.
int open_epoch(store::Session& session, const Restore& restore);

// Notices that a database was restored from a backup. It keeps a mark of how far the database had
// come in a file outside it, and opens an epoch when the database is behind the mark (PAWL0017).
// Each server has one; safe on several machines at once.
class Marker {
public:
    Marker(engine::Engine& engine, MarkerOptions options);  // The engine outlives it.

    // Call before any request. Throws StoreError; std::runtime_error with PAWL0017 if the mark
    // belongs to another installation, or can't be read.
    void start();
    // Advances the mark if anything has happened, and passes the epochs that others have opened to
    // the engine. Throws StoreError, std::runtime_error.
    void run_once();
    void run(const std::stop_token& stop);

private:
    struct Found {
        std::optional<core::Mark> mark;
        std::int64_t highest_key{};
        engine::Installation epochs;
        TimePoint now;
    };
    Found read();
    void notice(Found& found);
    void advance(const Found& found);
    void keep(OutsideMark mark);

    engine::Engine& engine_;
    MarkerOptions options_;
    std::mutex mutex_;
    std::optional<OutsideMark> outside_;  // What the file holds.
    std::int64_t calls_marked_;  // The engine's count of calls at the database's last mark.
};

}  // namespace pawl::ops
