#include "src/http/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace pawl::http {

namespace {

// For databases and queues, kept connections to providers, files.
constexpr std::uint64_t reserve = 256;
// More has no use, and the kernel keeps a table of this size; some systems allow 1,000 million.
constexpr rlim_t descriptors_max = 1U << 20U;

rlim_t raised_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptors_max;
    const auto wanted = std::min(limit.rlim_max, std::max(limit.rlim_cur, descriptors_max));
    const rlimit raised{wanted, limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : limit.rlim_cur;
}

}  // namespace

int connections_of(std::uint64_t descriptors, int connections_max, int calls_max) {
    const auto kept = std::min(reserve + static_cast<std::uint64_t>(calls_max), descriptors / 2);
    const auto left = std::max<std::uint64_t>(descriptors - kept, 1);
    return static_cast<int>(std::min(left, static_cast<std::uint64_t>(connections_max)));
}

int connections_within_limit(int connections_max, int calls_max, const base::OnWarning& warning) {
    const auto descriptors = raised_limit();
    const int connections = connections_of(descriptors, connections_max, calls_max);
    if (connections < connections_max)
        warning(
            {"connections_capped",
             "PAWL0014",
             "the process may open " + std::to_string(descriptors) + " files: connections_max is " +
                 std::to_string(connections) + " instead of " + std::to_string(connections_max)}
        );
    return connections;
}

}  // namespace pawl::http
