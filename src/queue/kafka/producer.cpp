#include "src/queue/kafka/producer.hpp"

#include <librdkafka/rdkafka.h>

#include <array>
#include <utility>

namespace pawl::queue::kafka {

namespace {

// The records of one call; librdkafka owns a ticket of each until it is settled.
struct Batch {
    std::mutex mutex;
    std::vector<Sent> sent;
    std::size_t open{0};
};
struct Ticket {
    Batch& batch;
    std::size_t index{};
};

bool is_too_large(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
           error == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE;
}

DeliveryState fate_of(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return DeliveryState::delivered;
    if (is_too_large(message.err)) return DeliveryState::refused;
    return rd_kafka_message_status(&message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED
               ? DeliveryState::failed
               : DeliveryState::unknown;
}

void on_delivery(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message, void* /*opaque*/) {
    const std::unique_ptr<Ticket> ticket{static_cast<Ticket*>(message->_private)};
    auto& batch = ticket->batch;
    const std::lock_guard lock{batch.mutex};
    batch.sent[ticket->index] = {fate_of(*message), rd_kafka_err2str(message->err)};
    --batch.open;
}

// librdkafka's list of headers; librdkafka owns it once it has accepted the record.
rd_kafka_headers_t* headers_of(const Record& record) {
    auto* headers = rd_kafka_headers_new(record.headers.size());
    for (const auto& [name, value] : record.headers)
        rd_kafka_header_add(
            headers,
            name.data(),
            static_cast<ssize_t>(name.size()),
            value ? value->data() : nullptr,
            value ? static_cast<ssize_t>(value->size()) : 0
        );
    return headers;
}

rd_kafka_vu_t bytes(rd_kafka_vtype_t type, const std::optional<std::string>& text) {
    rd_kafka_vu_t field{};
    field.vtype = type;
    field.u.mem.ptr = text ? const_cast<char*>(text->data()) : nullptr;
    field.u.mem.size = text ? text->size() : 0;
    return field;
}

rd_kafka_resp_err_t produce(rd_kafka_t* handle, const Record& record, Ticket* ticket) {
    std::array<rd_kafka_vu_t, 7> fields{};
    fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    fields[0].u.cstr = record.partition.topic.c_str();
    fields[1] = bytes(RD_KAFKA_VTYPE_KEY, record.key);
    fields[2] = bytes(RD_KAFKA_VTYPE_VALUE, record.value);
    fields[3].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
    fields[3].u.i64 = record.at.time_since_epoch().count();
    fields[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    fields[4].u.i = RD_KAFKA_MSG_F_COPY;
    fields[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    fields[5].u.ptr = ticket;
    fields[6].vtype = RD_KAFKA_VTYPE_HEADERS;
    fields[6].u.headers = headers_of(record);
    auto* failed = rd_kafka_produceva(handle, fields.data(), fields.size());
    if (failed == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
    const auto error = rd_kafka_error_code(failed);
    rd_kafka_error_destroy(failed);
    rd_kafka_headers_destroy(fields[6].u.headers);
    return error;
}

}  // namespace

class Producer::Client {
public:
    explicit Client(const KafkaOptions& options)
        : context_{options.log, nullptr, {}},
          handle_{open_client(
              Role::producer,
              options,
              {{"enable.idempotence", "true"},
               {"acks", "all"},
               // The partition that Java's client chooses for a key.
               {"partitioner", "murmur2_random"},
               {"linger.ms", "1"},
               // No limit here: the broker's applies, and its answer says so.
               {"message.max.bytes", "100000000"},
               {"message.timeout.ms", std::to_string(options.request_timeout.count())}},
              context_,
              [](rd_kafka_conf_t* conf) { rd_kafka_conf_set_dr_msg_cb(conf, on_delivery); }
          )} {}

    bool is_broken() const {
        std::array<char, 256> why{};
        return rd_kafka_fatal_error(handle_.get(), why.data(), why.size()) !=
               RD_KAFKA_RESP_ERR_NO_ERROR;
    }

    std::vector<Sent> send(std::span<const Record> records) {
        Batch batch;
        batch.sent.resize(records.size());
        batch.open = records.size();
        for (std::size_t i = 0; i < records.size(); ++i) begin(batch, i, records[i]);
        while (!ended(batch)) rd_kafka_poll(handle_.get(), 50);
        return std::move(batch.sent);
    }

private:
    void begin(Batch& batch, std::size_t index, const Record& record) {
        auto ticket = std::make_unique<Ticket>(Ticket{batch, index});
        auto error = produce(handle_.get(), record, ticket.get());
        while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {  // The queue empties by its own time-out.
            rd_kafka_poll(handle_.get(), 50);
            error = produce(handle_.get(), record, ticket.get());
        }
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            (void)ticket.release();  // on_delivery() owns it.
            return;
        }
        const std::lock_guard lock{batch.mutex};
        batch.sent[index] = {
            is_too_large(error) ? DeliveryState::refused : DeliveryState::failed,
            rd_kafka_err2str(error)};
        --batch.open;
    }
    static bool ended(Batch& batch) {
        const std::lock_guard lock{batch.mutex};
        return batch.open == 0;
    }

    Context context_;
    Handle handle_;
};

Producer::Producer(KafkaOptions options) : options_{std::move(options)} {}
Producer::~Producer() = default;

std::shared_ptr<Producer::Client> Producer::client() {
    const std::lock_guard lock{mutex_};
    // A fatal error ends an idempotent producer for good; a new one gets a new id.
    if (!client_ || client_->is_broken()) client_ = std::make_shared<Client>(options_);
    return client_;
}

std::vector<Sent> Producer::send(std::span<const Record> records) {
    return client()->send(records);
}

void Producer::send(const Record& record) {
    const auto sent = send(std::span{&record, 1}).at(0);
    const auto what = "a record for topic " + record.partition.topic;
    switch (sent.state) {
        case DeliveryState::delivered:
            return;
        case DeliveryState::refused:
            throw StoreError{
                StoreError::Kind::refused,
                StoreError::Effect::none,
                "",
                "PAWL0021: Kafka at " + options_.brokers + ": " + what + ": " + sent.why};
        case DeliveryState::failed:
            throw trouble(options_, what, sent.why);
        case DeliveryState::unknown:
            throw in_doubt(options_, what, sent.why);
    }
}

}  // namespace pawl::queue::kafka
