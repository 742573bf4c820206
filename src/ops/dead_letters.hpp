#pragma once

#include "src/base/random.hpp"
#include "src/queue/dead_letters.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Operators' work on many dead letters at once. It runs in batches, each a step of its own, so that
// it may be stopped or killed, and started again.
namespace pawl::ops {

// The chosen dead letters: these ids, or all that the filter selects, or a random `sample`.
struct DeadLetterChoice {
    std::vector<std::string> ids;
    queue::DeadLetterFilter filter;
    std::optional<int> sample;
};

// For a purge or a merge: restricts the choice to jobs that had died by `now`, with an allowance
// for clock differences. Otherwise jobs that die meanwhile would keep it running for ever.
DeadLetterChoice died_by(TimePoint now, DeadLetterChoice choice);

struct DeadLetterReport {
    std::int64_t chosen{};
    std::int64_t done{};
    std::int64_t gone{};       // Not there any more: handled before, or by another.
    std::int64_t forgotten{};  // See queue::PurgeResult.
    std::int64_t held{};       // The same.
    std::int64_t at_work{};    // The same.
};

// Called after each batch; returning false stops the work.
using OnDeadLetterBatch = std::function<bool(const DeadLetterReport& so_far)>;

inline constexpr int dead_letter_batch = 500;

// Calls back with each chosen dead letter, ordered by id; unknown ids are left out. One at a time,
// so that not all need fit into memory.
void each_dead_letter(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    base::Random& random,
    const std::function<void(const queue::DeadLetter&)>& f
);

DeadLetterReport purge_dead_letters(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    const queue::AuditEntry& act,
    base::Random& random,
    const OnDeadLetterBatch& on_batch
);
// See queue::DeadLetters::merge. A job that dies again meanwhile is not merged a second time.
DeadLetterReport merge_dead_letters(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    const queue::AuditEntry& act,
    std::optional<TimePoint> remembered_since,
    base::Random& random,
    const OnDeadLetterBatch& on_batch
);

}  // namespace pawl::ops
