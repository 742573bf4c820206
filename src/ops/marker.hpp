#pragma once

#include "src/core/lost_time.hpp"
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
    std::string file{};  // Outside the database; empty: no restore is noticed.
    std::chrono::milliseconds every{1s};
    std::chrono::hours repeats_for{72};  // How long clients may repeat what a restore has lost.
};

// What opens an epoch: by a person, or by a server that has noticed.
struct Restore {
    TimePoint lost_since;
    TimePoint keys_until;
    std::string by;
    std::string detail;
};
// Returns the number of the epoch. In the transaction of `session`, with its line in the audit log.
int open_epoch(store::Session& session, const Restore& restore);

// Tells a database that was restored from a backup from the one that was served last: it keeps a
// mark of how far the database had come in a file outside it, and opens an epoch when the database
// is behind the mark (PAWL0017). Each server has one; safe on several machines at once.
class Marker {
public:
    Marker(engine::Engine& engine, MarkerOptions options);  // The engine outlives it.

    // Before any request. Throws StoreError; std::runtime_error with PAWL0017 if the mark is of
    // another installation, or can't be read.
    void start();
    // Advances the mark if anything has happened, and gives the engine the epochs that others have
    // opened. Throws StoreError, std::runtime_error.
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
    bool notice(const Found& found);
    void advance(const Found& found);
    void keep(OutsideMark mark);

    engine::Engine& engine_;
    MarkerOptions options_;
    std::mutex mutex_;
    std::optional<OutsideMark> outside_;  // As the file has it.
    std::int64_t calls_marked_;           // Of the engine's, in the database.
};

}  // namespace pawl::ops
