#include "src/queue/kafka/dead_letter_filter.hpp"

#include <algorithm>

namespace pawl::queue::kafka {

bool matches(const DeadLetterFilter& filter, const DeadLetter& letter) {
    if (filter.queue && *filter.queue != letter.queue) return false;
    if (filter.kind && *filter.kind != letter.kind) return false;
    if (filter.error_kind && *filter.error_kind != letter.error_kind) return false;
    if (filter.error && letter.error.find(*filter.error) == letter.error.npos) return false;
    if (filter.died_before && letter.died_at >= *filter.died_before) return false;
    if (filter.died_since && letter.died_at < *filter.died_since) return false;
    return !filter.failures_min || letter.failures >= *filter.failures_min;
}

void DeadLetterGroups::add(const DeadLetter& letter) {
    auto& group = groups_[{letter.queue, letter.kind, letter.error_kind}];
    if (group.count == 0) {
        group.queue = letter.queue;
        group.kind = letter.kind;
        group.error_kind = letter.error_kind;
        group.first_died_at = group.last_died_at = letter.died_at;
    }
    ++group.count;
    group.first_died_at = std::min(group.first_died_at, letter.died_at);
    group.last_died_at = std::max(group.last_died_at, letter.died_at);
    group.sample = std::max(group.sample, letter.id);
}

std::vector<DeadLetterGroup> DeadLetterGroups::sorted() const {
    std::vector<DeadLetterGroup> all;
    for (const auto& [names, group] : groups_) all.push_back(group);
    std::stable_sort(
        all.begin(),
        all.end(),
        [](const DeadLetterGroup& one, const DeadLetterGroup& other) {
            return one.count > other.count;
        }
    );
    return all;
}

}  // namespace pawl::queue::kafka
