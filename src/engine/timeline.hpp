#pragma once

#include <pawl/detail/session.hpp>

#include "src/store/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::engine {

// One event of a key's time line, as it is stored and shown. No field has a secret of the request.
struct TimelineEvent {
    TimePoint at{};      // By the clock of the server that wrote it.
    std::string what{};  // "claimed", "called", ...: docs/howto/timeline.md lists them.
    std::optional<std::string> by{};     // Who caused it: client, completer, job, or a person.
    std::optional<std::string> point{};  // The recovery point at which it happened.
    std::optional<std::string> to{};     // The target of a call or an inquiry.
    std::optional<std::string> result{};
    std::optional<int> status{};              // HTTP, of the provider or of our answer.
    std::optional<std::string> request_id{};  // The provider's.
    std::optional<std::int64_t> took_us{};
    std::optional<std::string> detail{};
    // Of what begins an attempt: its place in a trace, as TraceContext::text() writes it.
    std::optional<std::string> trace{};
};
struct TimelineEvents {
    std::vector<TimelineEvent> events;
};

inline std::int64_t microseconds(std::chrono::nanoseconds took) {
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
}

// Writes events of an attempt as the row `part` of it.
void write_events(
    store::Session& session,
    std::int64_t key_id,
    int attempt,
    int part,
    const std::vector<TimelineEvent>& events
);

// Writes what a person did to the key beside its attempts.
void write_event_of_person(store::Session& session, std::int64_t key_id, TimelineEvent event);

// The events of one attempt that are not written yet. They are written in the transactions that
// the attempt makes anyway, so a crash loses those since the last one: the next attempt's claim
// says that. Used by one thread at a time.
class Timeline {
public:
    // Of one transaction; more are dropped, and their number is written.
    static constexpr std::size_t events_max = 50;
    // Of one event; a longer text is cut.
    static constexpr std::size_t detail_max = 300;
    // A key keeps the first and the last attempts.
    static constexpr int first_attempts = 10;
    static constexpr int last_attempts = 50;

    // Outside of a transaction, or inside of one that may still be rolled back.
    void add(TimelineEvent event);
    // Before a transaction runs, perhaps for the second time.
    void begin() {
        events_.resize(kept_);
        written_ = 0;
    }
    // In the transaction: all events so far that it has not written.
    void write(store::Session& session, std::int64_t key_id, int attempt);
    // After it. `committed`: certainly.
    void end(bool committed);
    void keep() { kept_ = events_.size(); }

private:
    std::vector<TimelineEvent> events_;
    std::size_t kept_{};  // Those that no rollback takes back.
    std::size_t dropped_{};
    int part_{};
    std::size_t written_{};  // By the transaction that runs.
};

}  // namespace pawl::engine
