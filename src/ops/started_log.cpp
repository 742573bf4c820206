#include "src/ops/started_log.hpp"

#include "src/base/log.hpp"
#include "src/base/url.hpp"
#include "src/engine/engine.hpp"

namespace pawl::ops {

namespace {

// "book-ride: started, ride_created, charge_created; ...", as the rows have them.
std::string points_text(const engine::Engine& engine) {
    std::string text;
    for (const auto* operation : engine.operations()) {
        text += (text.empty() ? "" : "; ") + std::string{operation->name} + ": ";
        for (const auto& step : operation->steps)
            text += (&step == &operation->steps.front() ? "" : ", ") + std::string{step.from};
    }
    return text;
}

}  // namespace

void log_started(Service& service, const std::string& listen, std::uint16_t port) {
    const auto& options = service.options();
    log::info(
        "started",
        {{"version", PAWL_VERSION},
         {"database", service.database().url_without_password()},
         {"queue", base::without_password(options.queue)},
         {"listen", listen},
         {"port", port},
         {"lease_ms", options.lease.count()},
         {"complete_after_ms", options.complete_after.count()},
         {"keep_keys_h", options.keep_keys.count()},
         {"calls_max", options.calls_max},
         {"workers", options.workers},
         {"drain_ms", options.drain_time().count()},
         {"operations", points_text(service.engine())}}
    );
}

}  // namespace pawl::ops
