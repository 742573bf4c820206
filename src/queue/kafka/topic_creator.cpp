#include "src/queue/kafka/topic_creator.hpp"

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/destroy.hpp"

#include <librdkafka/rdkafka.h>

#include <array>

namespace pawl::queue::kafka {

namespace {

// Empty: all topics were created, or were there.
std::string failures_of(rd_kafka_event_t* answer) {
    if (rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return "topics were not created: " + std::string{rd_kafka_event_error_string(answer)};
    std::size_t count = 0;
    const auto* const* topics =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer), &count);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const auto error = rd_kafka_topic_result_error(topics[i]);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
            continue;
        text += text.empty() ? "" : "; ";
        text += "topic " + std::string{rd_kafka_topic_result_name(topics[i])} +
                " was not created: " + rd_kafka_err2str(error);
    }
    return text;
}

}  // namespace

struct TopicCreator::Impl {
    Impl(rd_kafka_t* client, const KafkaOptions& given) : handle{client}, options{given} {}

    rd_kafka_t* handle;
    const KafkaOptions options;
    std::unique_ptr<rd_kafka_queue_t, DestroyQueue> answers{};  // Of the request under way.
    std::string logged{};
};

TopicCreator::TopicCreator(rd_kafka_s* handle, const KafkaOptions& options)
    : impl_{std::make_unique<Impl>(handle, options)} {}

TopicCreator::~TopicCreator() = default;

void TopicCreator::request(const Wanted& missing) {
    if (impl_->answers) return;
    const auto& options = impl_->options;
    std::array<char, 512> why{};
    std::vector<std::unique_ptr<rd_kafka_NewTopic_t, DestroyNewTopic>> topics;
    std::vector<rd_kafka_NewTopic_t*> plain;
    for (const auto& [name, partitions] : missing) {
        topics.emplace_back(rd_kafka_NewTopic_new(
            name.c_str(), partitions, options.replication, why.data(), why.size()
        ));
        if (!topics.back()) throw trouble(options, "topic " + name, why.data());
        plain.push_back(topics.back().get());
    }
    const std::unique_ptr<rd_kafka_AdminOptions_t, DestroyAdminOptions> admin{
        rd_kafka_AdminOptions_new(impl_->handle, RD_KAFKA_ADMIN_OP_CREATETOPICS)};
    rd_kafka_AdminOptions_set_request_timeout(
        admin.get(), static_cast<int>(options.request_timeout.count()), why.data(), why.size()
    );
    impl_->answers.reset(rd_kafka_queue_new(impl_->handle));
    rd_kafka_CreateTopics(
        impl_->handle, plain.data(), plain.size(), admin.get(), impl_->answers.get()
    );
}

bool TopicCreator::waiting() const {
    return impl_->answers != nullptr;
}

bool TopicCreator::answered() {
    if (!impl_->answers) return false;
    constexpr int without_waiting = 0;
    const std::unique_ptr<rd_kafka_event_t, DestroyEvent> answer{
        rd_kafka_queue_poll(impl_->answers.get(), without_waiting)};
    if (!answer) return false;
    impl_->answers.reset();
    const auto text = failures_of(answer.get());
    if (impl_->options.log && !text.empty() && text != impl_->logged) impl_->options.log(text);
    impl_->logged = text;
    return true;
}

}  // namespace pawl::queue::kafka
