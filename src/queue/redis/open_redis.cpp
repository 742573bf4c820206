#include "src/queue/redis/open_redis.hpp"

#include "src/queue/redis/queue_depth.hpp"
#include "src/queue/redis/redis_dead_letters.hpp"
#include "src/queue/redis/redis_jobs.hpp"
#include "src/queue/redis/redis_pusher.hpp"
#include "src/queue/redis/redis_queue.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/client.hpp"

#include <stdexcept>
#include <utility>

namespace pawl::queue {

std::optional<std::string> problem_of_redis(const QueueSetting& setting) {
    if (setting.limits.partition_max > 0)
        return "the queue \"" + setting.name +
               "\" has partition_max: only the embedded queue knows partitions";
    try {
        return redis::options_of_url(setting.url).problem();
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
}

OpenQueue open_redis(const QueueSetting& setting, store::Store& store, base::OnWarning on_warning) {
    auto client = std::make_shared<redis::Client>(
        redis::options_of_url(setting.url), nullptr, std::move(on_warning), sidekiq::scripts::all
    );
    OpenQueue open;
    open.check = [client] { client->check(); };
    open.connections = client;
    open.another = [&on = *client](const QueueSetting& another) {
        return std::make_unique<RedisQueue>(on, another.name, another.limits);
    };
    open.pusher = std::make_unique<RedisPusher>(*client);
    open.dead_letters = std::make_unique<RedisDeadLetters>(*client, store);
    open.jobs = [&on = *client, &store](const auto& names) {
        return std::make_unique<RedisJobs>(on, store, names);
    };
    open.waiting = [client](const auto& names) { return sidekiq::waiting(*client, names); };
    open.dead = [client] { return sidekiq::dead_counts(*client); };
    return open;
}

}  // namespace pawl::queue
