#include "src/ops/round_log.hpp"

#include <pawl/error.hpp>

#include <map>
#include <mutex>
#include <string_view>

namespace pawl::ops {

namespace {

struct Counts {
    std::mutex mutex;
    std::map<std::string_view, RoundCount> by_service;
};

Counts& counts() {
    static Counts made;
    return made;
}

template <class F>
void count(const char* service, F f) {
    const auto now = base::system_clock().now();
    auto& all = counts();
    const std::lock_guard lock{all.mutex};
    f(all.by_service[service], now);
}

}  // namespace

void count_done_round(const char* service) {
    count(service, [](RoundCount& of_it, TimePoint now) {
        ++of_it.done;
        of_it.last_done = now;
    });
}

void count_failed_round(const char* service, const std::exception& failed) {
    const auto* of_store = dynamic_cast<const StoreError*>(&failed);
    const bool lasts = of_store != nullptr && !of_store->transient();
    count(service, [&](RoundCount& of_it, TimePoint now) {
        ++of_it.failed;
        if (!lasts) return;
        of_it.defect_at = now;
        of_it.defect = failed.what();
    });
}

std::vector<RoundCount> round_counts() {
    auto& all = counts();
    const std::lock_guard lock{all.mutex};
    std::vector<RoundCount> found;
    for (const auto& [service, count] : all.by_service) {
        found.push_back(count);
        found.back().service = service;
    }
    return found;
}

}  // namespace pawl::ops
