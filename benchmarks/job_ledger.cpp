#include "benchmarks/job_ledger.hpp"

#include <algorithm>

namespace pawl::bench {

namespace {

std::int64_t nanoseconds(JobLedger::Time at) {
    return std::max<std::int64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count(), 1
    );
}

}  // namespace

JobLedger::JobLedger(std::size_t capacity) : committed_at_(capacity), ended_at_(capacity) {}

std::optional<std::int64_t> JobLedger::take(int how_many) {
    const auto first = next_.fetch_add(how_many);
    if (static_cast<std::size_t>(first + how_many) > committed_at_.size()) return std::nullopt;
    return first;
}

void JobLedger::committed(std::int64_t first, int how_many, Time at) {
    for (auto number = first; number < first + how_many; ++number)
        committed_at_[static_cast<std::size_t>(number)] = nanoseconds(at);
    committed_count_ += how_many;
}

void JobLedger::ended(std::int64_t number, Time at) {
    std::int64_t not_yet = 0;
    if (!ended_at_.at(static_cast<std::size_t>(number))
             .compare_exchange_strong(not_yet, nanoseconds(at)))
        return;
    ++ended_count_;
    if (waiting_ == 0) return;
    const std::lock_guard lock{mutex_};
    more_ended_.notify_all();
}

bool JobLedger::wait_ended(std::int64_t count, std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex_};
    ++waiting_;
    while (ended_count_ < count) {
        const auto before = ended_count_.load();
        more_ended_.wait_for(lock, patience, [&] { return ended_count_ != before; });
        if (ended_count_ == before) break;
    }
    --waiting_;
    return ended_count_ >= count;
}

Histogram JobLedger::latencies(std::int64_t first) const {
    Histogram found;
    for (auto i = static_cast<std::size_t>(first); i < committed_at_.size(); ++i) {
        const auto from = committed_at_[i].load();
        const auto to = ended_at_[i].load();
        if (from == 0 || to == 0) continue;
        found.add(static_cast<std::uint64_t>(std::max<std::int64_t>(to - from, 0) / 1'000));
    }
    return found;
}

}  // namespace pawl::bench
