#include "src/store/postgres/sharing_rule.hpp"

#include <algorithm>

namespace pawl::postgres {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds shortest_pause{25};
constexpr std::chrono::milliseconds longest_pause{5s};
constexpr std::chrono::minutes slow_for{1};
constexpr std::size_t slow_max = 1'000;  // Kinds that are remembered; a service has few.

}  // namespace

void SharingRule::Pause::begin(Moment now) {
    length = std::clamp(length * 2, shortest_pause, longest_pause);
    until = now + length;
}

int SharingRule::connections(Moment now) const {
    if (now < of_all_.until) return 0;
    return now < of_all_but_one_.until ? std::min(most_, 1) : most_;
}

bool SharingRule::allows(const void* kind, Moment now) {
    if (kind == nullptr || connections(now) == 0) return false;
    const auto found = slow_.find(kind);
    if (found == slow_.end()) return true;
    if (now < found->second) return false;
    slow_.erase(found);
    return true;
}

void SharingRule::broke_up(Moment now) {
    if (connections(now) <= 1) of_all_.begin(now);
    of_all_but_one_.begin(std::max(now, of_all_.until));
}

void SharingRule::went_well() {
    of_all_.shorten();
    of_all_but_one_.shorten();
}

void SharingRule::was_slow(const void* kind, Moment now) {
    if (kind != nullptr && slow_.size() < slow_max) slow_[kind] = now + slow_for;
}

}  // namespace pawl::postgres
