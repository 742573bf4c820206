#include "src/store/postgres/sharing_rule.hpp"

#include "src/core/assert.hpp"

#include <algorithm>

namespace pawl::postgres {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds shortest_pause{25};
constexpr std::chrono::milliseconds longest_pause{5s};

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
    return !apart_.has(kind, now);
}

void SharingRule::split(Moment now) {
    if (connections(now) <= 1) of_all_.begin(now);
    of_all_but_one_.begin(std::max(now, of_all_.until));
    PAWL_ASSERT(connections(now) <= 1);
}

void SharingRule::went_well() {
    of_all_.shorten();
    of_all_but_one_.shorten();
}

void SharingRule::keep_apart(const void* kind, Moment now) {
    apart_.add(kind, now);
}

void SharingRule::threw(const void* kind, Moment now) {
    throwing_.add(kind, now);
}

}  // namespace pawl::postgres
