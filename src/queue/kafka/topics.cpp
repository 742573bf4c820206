#include "src/queue/kafka/topics.hpp"

#include <algorithm>

namespace pawl::queue::kafka {

namespace {

constexpr std::size_t topic_max = 249;

bool is_legal(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

std::string retry_topic_begin(const KafkaOptions& options, std::string_view queue) {
    return main_topic(options, queue) + "__" + options.group + "__retry_";
}

}  // namespace

bool is_topic(std::string_view name) {
    return !name.empty() && name.size() <= topic_max && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), is_legal);
}

std::string main_topic(const KafkaOptions& options, std::string_view queue) {
    return options.prefix + "." + std::string{queue};
}

std::string retry_topic(
    const KafkaOptions& options, std::string_view queue, std::chrono::milliseconds layer
) {
    return retry_topic_begin(options, queue) + std::to_string(layer.count());
}

std::string dead_topic(const KafkaOptions& options, std::string_view queue) {
    return main_topic(options, queue) + "__" + options.group + "__dlq";
}

std::vector<std::string> worked_topics(const KafkaOptions& options, std::string_view queue) {
    std::vector<std::string> topics{main_topic(options, queue)};
    for (const auto layer : options.layers) topics.push_back(retry_topic(options, queue, layer));
    return topics;
}

std::vector<std::string> topics_of_old_layers(
    const KafkaOptions& options, std::string_view queue, const std::vector<std::string>& there
) {
    const auto begin = retry_topic_begin(options, queue);
    const auto worked = worked_topics(options, queue);
    std::vector<std::string> old;
    for (const auto& topic : there) {
        const auto delay = std::string_view{topic}.substr(std::min(begin.size(), topic.size()));
        if (!topic.starts_with(begin) || delay.empty()) continue;
        if (delay.find_first_not_of("0123456789") != delay.npos) continue;
        if (std::find(worked.begin(), worked.end(), topic) == worked.end()) old.push_back(topic);
    }
    return old;
}

std::optional<std::string> queue_of_dead_topic(
    const KafkaOptions& options, std::string_view topic
) {
    const auto begin = options.prefix + ".";
    const auto end = "__" + options.group + "__dlq";
    if (topic.size() <= begin.size() + end.size()) return std::nullopt;
    if (!topic.starts_with(begin) || !topic.ends_with(end)) return std::nullopt;
    return std::string{topic.substr(begin.size(), topic.size() - begin.size() - end.size())};
}

std::string consumer_group(const KafkaOptions& options, std::string_view queue) {
    return options.group + "." + std::string{queue};
}

std::chrono::milliseconds layer_for(
    const std::vector<std::chrono::milliseconds>& layers, std::chrono::milliseconds wait
) {
    const auto longer = std::upper_bound(layers.begin(), layers.end(), wait);
    return longer == layers.begin() ? *longer : *std::prev(longer);
}

}  // namespace pawl::queue::kafka
