#include "src/queue/open.hpp"

#include "src/base/url.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "src/queue/kafka/kafka_dead_letters.hpp"
#include "src/queue/kafka/kafka_pusher.hpp"
#include "src/queue/kafka/kafka_queue.hpp"
#include "src/queue/kafka/queue_depth.hpp"
#include "src/queue/lazy_queue.hpp"
#include "src/queue/redis/queue_depth.hpp"
#include "src/queue/redis/redis_dead_letters.hpp"
#include "src/queue/redis/redis_pusher.hpp"
#include "src/queue/redis/redis_queue.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/client.hpp"

#include <set>
#include <stdexcept>
#include <utility>

namespace pawl::queue {

namespace {

OpenQueue open_embedded(const QueueSetting& setting, store::Store& store) {
    OpenQueue open;
    open.check = [] {};
    open.queue = std::make_unique<EmbeddedQueue>(store, setting.name);
    open.dead_letters = std::make_unique<EmbeddedDeadLetters>(store);
    return open;
}

KafkaOptions kafka_options(const QueueSetting& setting) {
    KafkaOptions defaults;
    // Each retry delay has one topic. The worker's layers may contain duplicates or zero.
    if (!setting.retry_layers.empty()) {
        const std::set<std::chrono::milliseconds> lengths{
            setting.retry_layers.begin(), setting.retry_layers.end()};
        defaults.layers.assign(lengths.upper_bound(std::chrono::milliseconds{0}), lengths.end());
        if (defaults.layers.empty()) defaults.layers = {std::chrono::milliseconds{1}};
    }
    return kafka_options_of_url(setting.url, defaults);
}

OpenQueue open_redis(const QueueSetting& setting, store::Store& store, base::OnWarning on_warning) {
    auto client = std::make_shared<redis::Client>(
        redis::options_of_url(setting.url), nullptr, std::move(on_warning), sidekiq::scripts::all
    );
    OpenQueue open;
    open.check = [client] { client->check(); };
    open.connections = client;
    open.queue = std::make_unique<RedisQueue>(*client, setting.name);
    open.pusher = std::make_unique<RedisPusher>(*client);
    open.dead_letters = std::make_unique<RedisDeadLetters>(*client, store);
    open.waiting = [client, name = setting.name] { return sidekiq::waiting(*client, name); };
    return open;
}

// Does not connect: the first push or take reports an unreachable broker.
OpenQueue open_kafka(
    const QueueSetting& setting,
    store::Store& store,
    base::Clock& clock,
    const base::OnWarning& on_warning
) {
    auto options = kafka_options(setting);
    if (on_warning)
        options.log = [on_warning](std::string_view text) {
            on_warning({.event = "kafka", .code = "", .detail = std::string{text}});
        };
    OpenQueue open;
    open.check = [] {};
    open.queue = std::make_unique<LazyQueue>([options, name = setting.name, &store, &clock] {
        return std::make_unique<KafkaQueue>(options, name, store, clock);
    });
    open.pusher = std::make_unique<KafkaPusher>(options, clock);
    open.dead_letters = std::make_unique<KafkaDeadLetters>(options, store, clock);
    open.waiting = [options, name = setting.name] { return kafka::waiting(options, name); };
    return open;
}

}  // namespace

std::optional<std::string> QueueSetting::problem() const {
    if (url == "embedded") return std::nullopt;
    try {
        if (redis::is_redis_url(url)) return redis::options_of_url(url).problem();
        if (is_kafka_url(url)) return kafka_options(*this).problem();
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return "queue is " + base::without_password(url) +
           ": embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]";
}

OpenQueue open_queue(
    const QueueSetting& setting, store::Store& store, base::Clock& clock, base::OnWarning on_warning
) {
    if (auto why = setting.problem()) throw std::invalid_argument{*why};
    if (redis::is_redis_url(setting.url)) return open_redis(setting, store, std::move(on_warning));
    if (is_kafka_url(setting.url)) return open_kafka(setting, store, clock, on_warning);
    return open_embedded(setting, store);
}

}  // namespace pawl::queue
