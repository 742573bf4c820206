#include "src/queue/kafka/open_kafka.hpp"

#include "src/queue/kafka/kafka_dead_letters.hpp"
#include "src/queue/kafka/kafka_pusher.hpp"
#include "src/queue/kafka/kafka_queue.hpp"
#include "src/queue/kafka/queue_depth.hpp"
#include "src/queue/lazy_queue.hpp"

#include <set>
#include <stdexcept>
#include <utility>

namespace pawl::queue {

namespace {

using Layers = std::vector<std::chrono::milliseconds>;

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

}  // namespace

std::optional<std::string> problem_of_kafka(const QueueSetting& setting) {
    if (setting.limits.any())
        return "the queue \"" + setting.name +
               "\" has running_max, partition_max or a rate: Kafka has none over all servers";
    try {
        return kafka_options(setting).problem();
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
}

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
    open.another = [options, &store, &clock](const QueueSetting& another) {
        auto of_it = options;
        of_it.layers = topic_layers(another.retry_layers);
        return std::make_unique<LazyQueue>([of_it, name = another.name, &store, &clock] {
            return std::make_unique<KafkaQueue>(of_it, name, store, clock);
        });
    };
    open.pusher = std::make_unique<KafkaPusher>(options, clock);
    open.dead_letters = std::make_unique<KafkaDeadLetters>(options, store, clock);
    // Not by the same reader: a person's long read would hold up the metrics.
    auto counted = std::make_shared<KafkaDeadLetters>(options, store, clock);
    open.dead = [counted] { return counted->counts(); };
    open.waiting = [options](const auto& names) {
        std::vector<QueueDepth> found;
        for (const auto& name : names)
            for (auto& depth : kafka::waiting(options, name)) found.push_back(std::move(depth));
        return found;
    };
    open.missing_topics = [options](const auto& names) {
        return kafka::missing_topics(options, names);
    };
    return open;
}

}  // namespace pawl::queue
