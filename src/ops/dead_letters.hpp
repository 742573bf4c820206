#pragma once

#include "src/base/random.hpp"
#include "src/queue/dead_letters.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

// What people do with dead letters, many at once: in batches, each a step of its own, so that it
// may be stopped, or killed, and begun again.
namespace pawl::ops {

// Which: these, or all that the filter means; of these a random sample, if a number is given.
struct DeadChoice {
    std::vector<std::string> ids;
    queue::DeadFilter filter;
    std::optional<int> sample;
};

// For a purge or a merge: only what had died by `now`, give or take what clocks differ by, else
// jobs that die while it goes on would make it go on for ever.
DeadChoice dead_by(TimePoint now, DeadChoice choice);

struct DeadReport {
    std::int64_t chosen{};
    std::int64_t done{};
    std::int64_t gone{};       // Not there any more: done before, or by another.
    std::int64_t forgotten{};  // See queue::DeadDone.
};

// Told after each batch; false: stop there.
using OnDeadBatch = std::function<bool(const DeadReport& so_far)>;

inline constexpr int dead_batch = 500;

// The chosen ones, in the order of their ids; unknown ids are left out. For each in turn, so that
// none need be kept.
void each_dead_letter(
    queue::DeadLetters& letters,
    const DeadChoice& choice,
    base::Random& random,
    const std::function<void(const queue::DeadLetter&)>& f
);

DeadReport purge_dead_letters(
    queue::DeadLetters& letters,
    const DeadChoice& choice,
    const queue::DeadAct& act,
    base::Random& random,
    const OnDeadBatch& on_batch
);
// See queue::DeadLetters::merge. A job that dies again meanwhile is not merged a second time.
DeadReport merge_dead_letters(
    queue::DeadLetters& letters,
    const DeadChoice& choice,
    const queue::DeadAct& act,
    std::optional<TimePoint> remembered_since,
    base::Random& random,
    const OnDeadBatch& on_batch
);

}  // namespace pawl::ops
