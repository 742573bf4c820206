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

bool SharingRule::allows(const void* kind, Moment now) {
    if (kind == nullptr || now < until_) return false;
    const auto found = slow_.find(kind);
    if (found == slow_.end()) return true;
    if (now < found->second) return false;
    slow_.erase(found);
    return true;
}

void SharingRule::broke_up(Moment now) {
    pause_ = std::clamp(pause_ * 2, shortest_pause, longest_pause);
    until_ = now + pause_;
}

void SharingRule::went_well() {
    pause_ -= pause_ / 8;
}

void SharingRule::was_slow(const void* kind, Moment now) {
    if (kind != nullptr && slow_.size() < slow_max) slow_[kind] = now + slow_for;
}

}  // namespace pawl::postgres
