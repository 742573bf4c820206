#include "src/queue/kafka/client.hpp"

#include "src/queue/kafka/destroy.hpp"

#include <librdkafka/rdkafka.h>

#include <array>
#include <stdexcept>

namespace pawl::queue::kafka {

namespace {

void on_log(const rd_kafka_t* handle, int /*level*/, const char* facility, const char* text) {
    const auto* context = static_cast<const Context*>(rd_kafka_opaque(handle));
    if (context == nullptr || !context->log) return;
    // "... is a consumer property and will be ignored by this producer": the queue's URL has the
    // settings of both.
    const std::string_view warning{text};
    if (warning.find("will be ignored by this") != warning.npos) return;
    context->log(std::string{facility} + ": " + text);
}

void on_error(rd_kafka_t* /*handle*/, int error, const char* text, void* opaque) {
    const auto& context = *static_cast<const Context*>(opaque);
    if (context.on_error) context.on_error(error, text);
}

void put(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
    std::array<char, 512> why{};
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why.data(), why.size()) !=
        RD_KAFKA_CONF_OK)
        throw std::invalid_argument{
            "the queue's setting " + name + " is refused: " + std::string{why.data()}};
}

struct DestroyConf {
    void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
struct DestroyMetadata {
    void operator()(const rd_kafka_metadata_t* metadata) const {
        rd_kafka_metadata_destroy(metadata);
    }
};
struct DestroyTopic {
    void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

using Metadata = std::unique_ptr<const rd_kafka_metadata_t, DestroyMetadata>;

int ms(std::chrono::milliseconds wait) {
    return static_cast<int>(wait.count());
}

Metadata metadata_of(
    rd_kafka_t* handle, const KafkaOptions& options, rd_kafka_topic_t* topic, const char* what
) {
    const rd_kafka_metadata_t* found = nullptr;
    const auto error = rd_kafka_metadata(
        handle, topic == nullptr ? 1 : 0, topic, &found, ms(options.request_timeout)
    );
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw trouble(options, what, error);
    return Metadata{found};
}

}  // namespace

void DestroyHandle::operator()(rd_kafka_s* handle) const {
    rd_kafka_destroy(handle);
}

void DestroyPartitions::operator()(rd_kafka_topic_partition_list_s* list) const {
    rd_kafka_topic_partition_list_destroy(list);
}

Handle open_client(
    Role role,
    const KafkaOptions& options,
    const Settings& settings,
    Context& context,
    detail::FunctionRef<void(rd_kafka_conf_s*)> prepare
) {
    std::unique_ptr<rd_kafka_conf_t, DestroyConf> conf{rd_kafka_conf_new()};
    put(conf.get(), "bootstrap.servers", options.brokers);
    put(conf.get(), "client.id", "pawl-" + options.group);
    put(conf.get(), "reconnect.backoff.max.ms", "1000");  // Reconnects soon after an outage.
    // How soon new partitions are read and written. By librdkafka's default, 5 min, jobs that other
    // programs write there would wait for too long.
    put(conf.get(), "topic.metadata.refresh.interval.ms", "10000");
    for (const auto& [name, value] : settings) put(conf.get(), name, value);
    for (const auto& [name, value] : options.settings) put(conf.get(), name, value);
    rd_kafka_conf_set_opaque(conf.get(), &context);
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    prepare(conf.get());
    std::array<char, 512> why{};
    const auto type = role == Role::producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
    Handle handle{rd_kafka_new(type, conf.get(), why.data(), why.size())};
    if (!handle)
        throw std::invalid_argument{
            "no client of " + options.brokers + ": " + std::string{why.data()}};
    (void)conf.release();  // The handle owns it now.
    return handle;
}

Record record_of(const rd_kafka_message_s& message) {
    Record record;
    record.partition = {rd_kafka_topic_name(message.rkt), message.partition};
    record.offset = message.offset;
    rd_kafka_timestamp_type_t type{};
    record.at = TimePoint{std::chrono::milliseconds{rd_kafka_message_timestamp(&message, &type)}};
    if (message.key != nullptr)
        record.key.emplace(static_cast<const char*>(message.key), message.key_len);
    if (message.payload != nullptr)
        record.value.emplace(static_cast<const char*>(message.payload), message.len);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        Header header{name};
        if (value != nullptr) header.value.emplace(static_cast<const char*>(value), size);
        record.headers.push_back(std::move(header));
    }
    return record;
}

StoreError trouble(const KafkaOptions& options, std::string_view what, std::string_view why) {
    return {
        StoreError::Kind::unavailable,
        StoreError::Effect::none,
        "",
        "PAWL0020: Kafka at " + options.brokers + ": " + std::string{what} + ": " +
            std::string{why}};
}

StoreError trouble(const KafkaOptions& options, std::string_view what, int error) {
    return trouble(options, what, rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(error)));
}

StoreError in_doubt(const KafkaOptions& options, std::string_view what, std::string_view why) {
    return {
        StoreError::Kind::unavailable,
        StoreError::Effect::in_doubt,
        "",
        trouble(options, what, why).what()};
}

int partition_count(rd_kafka_s* handle, const KafkaOptions& options, const std::string& topic) {
    const std::unique_ptr<rd_kafka_topic_t, DestroyTopic> local{
        rd_kafka_topic_new(handle, topic.c_str(), nullptr)};
    if (!local) throw trouble(options, "topic " + topic, rd_kafka_last_error());
    const auto found = metadata_of(handle, options, local.get(), "the partitions of a topic");
    if (found->topic_cnt != 1) return 0;
    const auto& answer = found->topics[0];
    if (answer.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return 0;
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR)
        throw trouble(options, "topic " + topic, answer.err);
    return answer.partition_cnt;
}

std::vector<std::string> topic_names(rd_kafka_s* handle, const KafkaOptions& options) {
    const auto found = metadata_of(handle, options, nullptr, "the names of topics");
    std::vector<std::string> names;
    for (int i = 0; i < found->topic_cnt; ++i) names.emplace_back(found->topics[i].topic);
    return names;
}

Watermarks watermarks(rd_kafka_s* handle, const KafkaOptions& options, const Partition& partition) {
    Watermarks found;
    const auto error = rd_kafka_query_watermark_offsets(
        handle,
        partition.topic.c_str(),
        partition.number,
        &found.low,
        &found.high,
        ms(options.request_timeout)
    );
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        throw trouble(options, "the offsets of topic " + partition.topic, error);
    return found;
}

}  // namespace pawl::queue::kafka
