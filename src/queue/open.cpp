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

using Layers = std::vector<std::chrono::milliseconds>;

OpenQueue open_embedded(store::Store& store) {
    OpenQueue open;
    open.check = [] {};
    open.another = [&store](const std::string& name, const Layers&) {
        return std::make_unique<EmbeddedQueue>(store, name);
    };
    open.dead_letters = std::make_unique<EmbeddedDeadLetters>(store);
    return open;
}

// Each retry delay has one topic. The worker's layers may contain duplicates or zero.
Layers topic_layers(const Layers& layers) {
    if (layers.empty()) return KafkaOptions{}.layers;
    const std::set<std::chrono::milliseconds> lengths{layers.begin(), layers.end()};
    Layers found{lengths.upper_bound(std::chrono::milliseconds{0}), lengths.end()};
    if (found.empty()) found = {std::chrono::milliseconds{1}};
    return found;
}

KafkaOptions kafka_options(const QueueSetting& setting) {
    KafkaOptions defaults;
    defaults.layers = topic_layers(setting.retry_layers);
    return kafka_options_of_url(setting.url, defaults);
}

OpenQueue open_redis(const QueueSetting& setting, store::Store& store, base::OnWarning on_warning) {
    auto client = std::make_shared<redis::Client>(
        redis::options_of_url(setting.url), nullptr, std::move(on_warning), sidekiq::scripts::all
    );
    OpenQueue open;
    open.check = [client] { client->check(); };
    open.connections = client;
    open.another = [&on = *client](const std::string& name, const Layers&) {
        return std::make_unique<RedisQueue>(on, name);
    };
    open.pusher = std::make_unique<RedisPusher>(*client);
    open.dead_letters = std::make_unique<RedisDeadLetters>(*client, store);
    open.waiting = [client](const auto& names) { return sidekiq::waiting(*client, names); };
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
    open.another = [options, &store, &clock](const std::string& name, const Layers& layers) {
        auto of_it = options;
        of_it.layers = topic_layers(layers);
        return std::make_unique<LazyQueue>([of_it, name, &store, &clock] {
            return std::make_unique<KafkaQueue>(of_it, name, store, clock);
        });
    };
    open.pusher = std::make_unique<KafkaPusher>(options, clock);
    open.dead_letters = std::make_unique<KafkaDeadLetters>(options, store, clock);
    open.waiting = [options](const auto& names) {
        std::vector<QueueDepth> found;
        for (const auto& name : names)
            for (auto& depth : kafka::waiting(options, name)) found.push_back(std::move(depth));
        return found;
    };
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
    auto open = redis::is_redis_url(setting.url) ? open_redis(setting, store, std::move(on_warning))
                : is_kafka_url(setting.url)      ? open_kafka(setting, store, clock, on_warning)
                                                 : open_embedded(store);
    open.queue = open.another(setting.name, setting.retry_layers);
    return open;
}

}  // namespace pawl::queue
