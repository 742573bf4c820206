#include "src/queue/kafka/member.hpp"

#include "src/base/thread_name.hpp"
#include "src/queue/kafka/destroy.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace pawl::queue::kafka {

namespace {

constexpr int poll_ms = 50;
constexpr int last_commit_ms = 5'000;
// How often to look for topics that are missing.
constexpr std::chrono::seconds look_every{5};
constexpr std::chrono::seconds removed_look_every{3};
// How long a member that has just joined waits at its end for its first partitions.
constexpr std::chrono::seconds last_join_max{10};

std::chrono::steady_clock::time_point steady_now() {
    return std::chrono::steady_clock::now();  // tidy: allow clock: of librdkafka's thread
}

bool contains(const std::vector<std::string>& topics, const std::string& topic) {
    return std::ranges::find(topics, topic) != topics.end();
}

PartitionList list_of(const std::vector<Partition>& partitions) {
    PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size()))};
    for (const auto& [topic, number] : partitions)
        rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), number);
    return list;
}

std::vector<Partition> partitions_of(const rd_kafka_topic_partition_list_t& list) {
    std::vector<Partition> found;
    for (int i = 0; i < list.cnt; ++i)
        found.push_back({list.elems[i].topic, list.elems[i].partition});
    return found;
}

PartitionList list_of(const std::vector<Position>& positions) {
    PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(positions.size()))};
    for (const auto& position : positions) {
        auto* element = rd_kafka_topic_partition_list_add(
            list.get(), position.partition.topic.c_str(), position.partition.number
        );
        element->offset = position.offset;
        if (position.gaps.empty()) continue;
        // The list frees it with librdkafka's allocator.
        element->metadata = rd_kafka_mem_malloc(nullptr, position.gaps.size());
        element->metadata_size = position.gaps.size();
        std::memcpy(element->metadata, position.gaps.data(), position.gaps.size());
    }
    return list;
}

std::vector<Position> positions_of(const rd_kafka_topic_partition_list_t& list) {
    std::vector<Position> found;
    for (int i = 0; i < list.cnt; ++i) {
        const auto& element = list.elems[i];
        if (element.err != RD_KAFKA_RESP_ERR_NO_ERROR || element.offset < 0) continue;
        Position position{{element.topic, element.partition}, element.offset, {}};
        if (element.metadata != nullptr)
            position.gaps.assign(static_cast<const char*>(element.metadata), element.metadata_size);
        found.push_back(std::move(position));
    }
    return found;
}

// Errors that waiting does not fix: an operator must grant rights or change settings.
bool is_refusal(int error) {
    return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR__FATAL;
}

std::string topic_of(const rd_kafka_message_t& message) {
    return message.rkt == nullptr ? std::string{} : rd_kafka_topic_name(message.rkt);
}

}  // namespace

struct Member::Impl {
    Impl(
        const KafkaOptions& given, const std::string& group, Topics given_topics, MemberEvents& sink
    );
    void look_for_topics(bool create);
    void subscribe(const std::vector<std::string>& there);
    void run(const std::stop_token& stop);
    bool look_if_joined();
    void end_join();
    void take_over(rd_kafka_topic_partition_list_t* list);
    void hand_over(rd_kafka_topic_partition_list_t* list, bool lost);
    void commit();
    void commit_and_wait(const std::vector<Position>& positions);
    void pause_and_resume();
    void read(Record record);
    bool look_for_removed(const Partition& partition);

    static void on_rebalance(
        rd_kafka_t* handle,
        rd_kafka_resp_err_t what,
        rd_kafka_topic_partition_list_t* list,
        void* opaque
    );
    static void on_commit(
        rd_kafka_t* handle,
        rd_kafka_resp_err_t error,
        rd_kafka_topic_partition_list_t* list,
        void* opaque
    );

    const KafkaOptions options;
    const Topics topics;
    MemberEvents& events;
    Context context;
    // The topics of the subscription that the brokers have named.
    std::optional<std::vector<std::string>> subscribed{};
    bool subscribed_again{false};
    bool all_found{false};  // Whether all wanted topics are there.
    std::chrono::steady_clock::time_point next_look{};
    std::chrono::steady_clock::time_point next_removed_look{};
    std::map<Partition, std::int64_t> next{};  // The offset of the next record, where known.
    bool committing{false};  // One commit at a time, so that none overtakes another.
    bool has_joined{false};  // Known while nothing was assigned.
    bool was_assigned{false};
    Handle handle;
    std::optional<TopicCreator> creator{};  // Ends before its handle.
    std::jthread thread;                    // ~Impl() ends it before the handle is destroyed.
};

Member::Impl::Impl(
    const KafkaOptions& given, const std::string& group, Topics given_topics, MemberEvents& sink
)
    : options{given}, topics{std::move(given_topics)}, events{sink}, context{given.log, this, {}} {
    // Not only all-brokers-down: that needs a connection to each broker before.
    context.on_error = [this](int error, std::string_view text) {
        if (is_refusal(error))
            events.refused({}, std::string{text});
        else
            events.troubled(std::string{text});
    };
    const auto session = options.session_timeout.count();
    handle = open_client(
        Role::consumer,
        options,
        {{"group.id", group},
         {"enable.auto.commit", "false"},
         {"enable.auto.offset.store", "false"},
         {"auto.offset.reset", "earliest"},
         {"partition.assignment.strategy", "cooperative-sticky"},
         {"allow.auto.create.topics", "true"},
         {"session.timeout.ms", std::to_string(session)},
         {"heartbeat.interval.ms", std::to_string(session / 15)},
         {"fetch.wait.max.ms", std::to_string(options.fetch_wait.count())},
         // Little read-ahead: due records are held here, and pausing discards librdkafka's buffer.
         {"queued.min.messages", "1000"},
         {"queued.max.messages.kbytes", "16384"}},
        context,
        [](rd_kafka_conf_t* conf) {
            rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
            rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
        }
    );
    rd_kafka_poll_set_consumer(handle.get());
    creator.emplace(handle.get(), options);
    thread = std::jthread{[this](const std::stop_token& stop) {
        base::name_this_thread("pawl-kafka");
        run(stop);
    }};
}

// Learns which topics there are, and reads them; asks the brokers for missing ones if `create`.
void Member::Impl::look_for_topics(bool create) {
    next_look = steady_now() + look_every;
    try {
        const auto there = topic_names(handle.get(), options);
        auto missing = topics.wanted;
        std::erase_if(missing, [&](const auto& topic) { return contains(there, topic.first); });
        all_found = missing.empty();
        if (!all_found && create) creator->request(missing);
        subscribe(there);
    } catch (const StoreError& error) {
        events.troubled(error.what());
        if (!subscribed) subscribe({});
    }
}

void Member::Impl::subscribe(const std::vector<std::string>& there) {
    const auto old = topics.more(there);
    auto to_read = topics.read;
    to_read.insert(to_read.end(), old.begin(), old.end());
    auto found = to_read;
    std::erase_if(found, [&](const auto& topic) { return !contains(there, topic); });
    std::ranges::sort(found);  // Brokers name them in any order.
    // To read a missing topic could create it, with the brokers' number of partitions.
    if (!subscribed && creator->waiting() && found.size() < to_read.size()) return;
    // Once more for each new topic: librdkafka sees it minutes later otherwise.
    if (subscribed == found) return;
    for (const auto& topic : old)
        if (options.log && !(subscribed && contains(*subscribed, topic)))
            options.log("topic " + topic + " is read until it is empty");
    subscribed_again = subscribed.has_value();
    subscribed = std::move(found);
    std::vector<Partition> all;
    for (const auto& topic : to_read) all.push_back({topic, RD_KAFKA_PARTITION_UA});
    const auto error = rd_kafka_subscribe(handle.get(), list_of(all).get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) events.refused({}, rd_kafka_err2str(error));
}

void Member::Impl::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::unique_ptr<rd_kafka_message_t, DestroyMessage> message{
            rd_kafka_consumer_poll(handle.get(), poll_ms)};
        if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            read(record_of(*message));
        else if (message && is_refusal(message->err))
            events.refused(topic_of(*message), rd_kafka_message_errstr(message.get()));
        // No broker has answered yet, topics are missing, or rules forbid to create them.
        const bool answered = creator->answered();
        if (!all_found && (answered || steady_now() >= next_look)) look_for_topics(!answered);
        pause_and_resume();
        commit();
        if (!was_assigned) look_if_joined();
    }
    end_join();
    // librdkafka 2.0 keeps a further subscription until a rebalance is over. If that is during the
    // close, it subscribes after all, and rd_kafka_destroy() aborts the process.
    if (subscribed_again) rd_kafka_unsubscribe(handle.get());
    rd_kafka_consumer_close(handle.get());  // Revokes all partitions, and leaves the group.
}

// Whether the member has ever joined: brokers give it an id, and may take it away again.
bool Member::Impl::look_if_joined() {
    if (has_joined) return true;
    const std::unique_ptr<char, DestroyText> id{
        rd_kafka_memberid(handle.get()), DestroyText{handle.get()}};
    has_joined = id && *id != '\0';
    return has_joined;
}

// librdkafka 2.0 aborts the process in rd_kafka_destroy() if a cooperative member has joined and
// was never assigned anything, not even no partition (its issue 4312).
void Member::Impl::end_join() {
    const auto end = steady_now() + last_join_max;
    while (!was_assigned && look_if_joined() && steady_now() < end)
        const std::unique_ptr<rd_kafka_message_t, DestroyMessage> unread{
            rd_kafka_consumer_poll(handle.get(), poll_ms)};
}

void Member::Impl::read(Record record) {
    const auto at = next.try_emplace(record.partition, record.offset).first;
    // Offsets may be missing for another reason, too: transactions of other programs take some, and
    // each look waits for a broker.
    if (at->second < record.offset && steady_now() >= next_removed_look) {
        next_removed_look = steady_now() + removed_look_every;
        look_for_removed(record.partition);
    }
    at->second = record.offset + 1;
    events.read(std::move(record));
}

// False if the brokers do not answer.
bool Member::Impl::look_for_removed(const Partition& partition) {
    auto& expected = next.at(partition);
    try {
        const auto low = kafka::watermarks(handle.get(), options, partition).low;
        if (low > expected) events.removed(partition, low - expected);
        expected = std::max(expected, low);
        return true;
    } catch (const StoreError& error) {
        events.troubled(error.what());
        return false;
    }
}

void Member::Impl::pause_and_resume() {
    if (const auto full = events.to_pause(); !full.empty())
        rd_kafka_pause_partitions(handle.get(), list_of(full).get());
    if (const auto roomy = events.to_resume(); !roomy.empty())
        rd_kafka_resume_partitions(handle.get(), list_of(roomy).get());
}

void Member::Impl::commit() {
    if (committing) return;
    const auto positions = events.to_commit();
    if (positions.empty()) return;
    constexpr int without_waiting = 1;
    committing = rd_kafka_commit(handle.get(), list_of(positions).get(), without_waiting) ==
                 RD_KAFKA_RESP_ERR_NO_ERROR;
}

void Member::Impl::on_commit(
    rd_kafka_t* /*handle*/,
    rd_kafka_resp_err_t error,
    rd_kafka_topic_partition_list_t* list,
    void* opaque
) {
    auto& self = *static_cast<Impl*>(static_cast<Context*>(opaque)->owner);
    self.committing = false;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && list != nullptr)
        self.events.committed(positions_of(*list));
}

// Not by the common commit callback: an answer to an earlier commit may arrive first.
void Member::Impl::commit_and_wait(const std::vector<Position>& positions) {
    if (positions.empty()) return;
    const std::unique_ptr<rd_kafka_queue_t, DestroyQueue> answers{rd_kafka_queue_new(handle.get())};
    rd_kafka_commit_queue(handle.get(), list_of(positions).get(), answers.get(), nullptr, nullptr);
    const std::unique_ptr<rd_kafka_event_t, DestroyEvent> event{
        rd_kafka_queue_poll(answers.get(), last_commit_ms)};
}

void Member::Impl::on_rebalance(
    rd_kafka_t* handle,
    rd_kafka_resp_err_t what,
    rd_kafka_topic_partition_list_t* list,
    void* opaque
) {
    auto& self = *static_cast<Impl*>(static_cast<Context*>(opaque)->owner);
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        self.take_over(list);
    else
        self.hand_over(list, rd_kafka_assignment_lost(handle) != 0);
}

void Member::Impl::take_over(rd_kafka_topic_partition_list_t* list) {
    was_assigned = true;
    const PartitionList known{rd_kafka_topic_partition_list_copy(list)};
    // Without an answer, records after the committed offsets come again; the inbox detects them.
    const auto error = rd_kafka_committed(
        handle.get(), known.get(), static_cast<int>(options.request_timeout.count())
    );
    std::vector<Assigned> assigned;
    for (const auto& partition : partitions_of(*list)) assigned.push_back({partition, {}, {}});
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (auto& position : positions_of(*known))
            for (auto& one : assigned)
                if (one.partition == position.partition) {
                    one.committed = position.offset;
                    one.gaps = position.gaps;
                }
    bool answered = true;
    for (const auto& one : assigned) {
        if (!one.committed) continue;
        next.insert_or_assign(one.partition, *one.committed);
        answered = answered && look_for_removed(one.partition);
    }
    events.assigned(assigned);
    if (auto* failed = rd_kafka_incremental_assign(handle.get(), list)) {
        events.refused({}, rd_kafka_error_string(failed));
        rd_kafka_error_destroy(failed);
    }
}

void Member::Impl::hand_over(rd_kafka_topic_partition_list_t* list, bool lost) {
    const auto partitions = partitions_of(*list);
    if (!lost) commit_and_wait(events.last_positions(partitions));
    for (const auto& partition : partitions) next.erase(partition);
    events.revoked(partitions);
    if (auto* failed = rd_kafka_incremental_unassign(handle.get(), list)) {
        events.refused({}, rd_kafka_error_string(failed));
        rd_kafka_error_destroy(failed);
    }
}

Member::Member(
    const KafkaOptions& options, const std::string& group, Topics topics, MemberEvents& events
)
    : impl_{std::make_unique<Impl>(options, group, std::move(topics), events)} {}

Member::~Member() = default;

Watermarks Member::watermarks(const Partition& partition) const {
    return kafka::watermarks(impl_->handle.get(), impl_->options, partition);
}

void Member::check_brokers() const {
    auto quickly = impl_->options;
    quickly.request_timeout = std::chrono::seconds{1};
    topic_names(impl_->handle.get(), quickly);
}

}  // namespace pawl::queue::kafka
