#include "src/ops/queue_check.hpp"

#include "src/base/clock.hpp"
#include "src/ops/service_options.hpp"
#include "src/queue/open.hpp"

#include <mutex>

namespace pawl::ops {

std::vector<base::Warning> warnings_of_queue(
    const ServiceOptions& options,
    store::Store& store,
    const std::set<std::string, std::less<>>& names
) {
    std::mutex mutex;  // librdkafka warns from its own threads.
    std::vector<base::Warning> warnings;
    {
        const auto queue = queue::open_queue(
            queue_setting(options, default_queue),
            store,
            base::system_clock(),
            [&](const base::Warning& warning) {
                const std::lock_guard lock{mutex};
                warnings.push_back(warning);
            }
        );
        queue.check();
        // Kafka's check() connects to no broker; this does.
        const auto missing =
            queue.missing_topics ? queue.missing_topics(names) : std::vector<std::string>{};
        const std::lock_guard lock{mutex};
        for (const auto& topic : missing)
            warnings.push_back(
                {.event = "topic_missing",
                 .code = "",
                 .detail = "the topic " + topic +
                           " is not there yet: the first worker of its queue asks for it"}
            );
    }
    return warnings;
}

}  // namespace pawl::ops
