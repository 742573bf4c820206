#pragma once

#include <librdkafka/rdkafka.h>

// Deleters for what librdkafka returns to be destroyed by its caller.
namespace pawl::queue::kafka {

struct DestroyMessage {
    void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
struct DestroyQueue {
    void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
struct DestroyAdminOptions {
    void operator()(rd_kafka_AdminOptions_t* options) const {
        rd_kafka_AdminOptions_destroy(options);
    }
};
struct DestroyNewTopic {
    void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
};
struct DestroyText {
    rd_kafka_t* handle{};
    void operator()(char* text) const { rd_kafka_mem_free(handle, text); }
};
struct DestroyEvent {
    void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};

}  // namespace pawl::queue::kafka
