#include "src/store/recent_kinds.hpp"

#include <cstddef>

namespace pawl::store {

namespace {

constexpr std::chrono::minutes remembered_for{1};
constexpr std::size_t kinds_max = 1'000;  // A service has few.

}  // namespace

bool RecentKinds::has(const void* kind, Moment now) {
    const auto found = until_.find(kind);
    if (found == until_.end()) return false;
    if (now < found->second) return true;
    until_.erase(found);
    return false;
}

void RecentKinds::add(const void* kind, Moment now) {
    if (kind != nullptr && (until_.contains(kind) || until_.size() < kinds_max))
        until_[kind] = now + remembered_for;
}

}  // namespace pawl::store
