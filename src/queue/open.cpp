#include "src/queue/open.hpp"

#include "src/base/url.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "src/queue/kafka/open_kafka.hpp"
#include "src/queue/redis/open_redis.hpp"

#include <stdexcept>
#include <utility>

namespace pawl::queue {

namespace {

OpenQueue open_embedded(store::Store& store) {
    OpenQueue open;
    open.check = [] {};
    open.another = [&store](const QueueSetting& setting) {
        return std::make_unique<EmbeddedQueue>(store, setting.name, setting.limits);
    };
    open.dead_letters = std::make_unique<EmbeddedDeadLetters>(store);
    open.jobs = [&store](const auto&) { return std::make_unique<EmbeddedJobs>(store); };
    return open;
}

bool is_redis(const std::string& url) {
    return url.starts_with("redis://") || url.starts_with("rediss://");
}

bool is_kafka(const std::string& url) {
    return url.starts_with("kafka://");
}

}  // namespace

std::optional<std::string> QueueSetting::problem() const {
    if (url == "embedded") return std::nullopt;
    if (is_redis(url)) return problem_of_redis(*this);
    if (is_kafka(url)) return problem_of_kafka(*this);
    return "queue is " + base::without_password(url) +
           ": embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]";
}

OpenQueue open_queue(
    const QueueSetting& setting, store::Store& store, base::Clock& clock, base::OnWarning on_warning
) {
    if (auto why = setting.problem()) throw std::invalid_argument{*why};
    auto open = is_redis(setting.url)   ? open_redis(setting, store, std::move(on_warning))
                : is_kafka(setting.url) ? open_kafka(setting, store, clock, on_warning)
                                        : open_embedded(store);
    open.queue = open.another(setting);
    return open;
}

}  // namespace pawl::queue
