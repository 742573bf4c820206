#include "src/core/server_watch.hpp"

#include <algorithm>
#include <utility>

namespace pawl::core {

using std::chrono::milliseconds;

std::vector<SilentServer> ServerWatch::look(const std::vector<ServerRow>& others, Time now) {
    // A late look adds no more than two beats: what made it late may have held up the others, too.
    const auto since_last = last_look_ ? now - *last_look_ : milliseconds{0};
    const auto passed =
        std::min(std::chrono::floor<milliseconds>(since_last), 2 * times_.beat_every);
    last_look_ = now;
    const bool locks_count = !locks_count_from_ || now >= *locks_count_from_;
    std::map<std::int64_t, Seen> seen;
    std::vector<SilentServer> silent;
    for (const auto& row : others) {
        auto& of = seen[row.id];
        of.beats = row.beats;
        const auto before = seen_.find(row.id);
        if (before != seen_.end() && before->second.beats == row.beats)
            of.silent_for = before->second.silent_for + passed;
        if (of.silent_for >= times_.silent_max)
            silent.push_back({row, of.silent_for, false});
        else if (of.silent_for >= times_.silent_min && row.session_lock && locks_count)
            silent.push_back({row, of.silent_for, true});
    }
    seen_ = std::move(seen);
    return silent;
}

void ServerWatch::look_failed(Time now) {
    locks_count_from_ = now + times_.silent_max;
}

}  // namespace pawl::core
