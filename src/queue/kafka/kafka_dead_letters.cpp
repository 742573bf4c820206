#include "src/queue/kafka/kafka_dead_letters.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/fault.hpp"
#include "src/queue/kafka/dead_letter_filter.hpp"
#include "src/queue/kafka/job_record.hpp"
#include "src/queue/kafka/producer.hpp"
#include "src/queue/kafka/redrive_marks.hpp"
#include "src/queue/kafka/topic_reader.hpp"
#include "src/queue/kafka/topics.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

namespace pawl::queue {

using namespace kafka;

namespace {

using Ids = std::span<const std::string>;
constexpr std::chrono::seconds batch_deadline{30};

struct Found {
    DeadLetterAt at() const { return at(record.offset); }
    DeadLetterAt at(std::int64_t offset) const {
        return {record.partition, offset, life_of(record)};
    }
    Record record;
    DeadLetter letter;
    std::int64_t last_offset{record.offset};  // Last offset of its life, with ReadExtent::whole.
};

enum class ReadExtent {
    first,  // The dead letters themselves.
    whole,  // Also duplicates of the same death: reads to the end of each partition.
};

using OnFound = std::function<void(Found)>;
using OnDouble = std::function<void(const Record&, const std::string& life)>;

}  // namespace

struct KafkaDeadLetters::Impl {
    // Of the topics of dead letters: of all queues, or of one.
    std::vector<OffsetRange> extents(const std::string* only);
    // Calls f for each that is shown: not settled by a mark, and the first of its job's life.
    void each(const std::string* only, const OnFound& f) { each_of(extents(only), f); }
    void each_of(
        const std::vector<OffsetRange>& ranges, const OnFound& f, const OnDouble& on_double = {}
    );
    // Finds those that exist, each once, by their ids.
    std::map<std::string, Found> look_for(Ids ids, ReadExtent lives);
    // Marks those that are not settled, and writes the audit entry, in one transaction. Marks the
    // first and the last record of a life: if retention removes the first, the last stays settled.
    std::vector<std::string> settle(
        const std::map<std::string, Found>& found, Mark with, const AuditEntry& act
    );
    void begin_merging(std::map<std::string, Found>& found, const AuditEntry& act, bool called);
    void send(const std::map<std::string, Found>& found, const AuditEntry& act, bool called);

    KafkaOptions options;
    store::Store& store;
    base::Clock& clock;
    TopicReader reader;
    Producer producer;
};

std::vector<OffsetRange> KafkaDeadLetters::Impl::extents(const std::string* only) {
    std::vector<OffsetRange> ranges;
    for (const auto& topic : reader.topics()) {
        const auto queue = queue_of_dead_topic(options, topic);
        if (!queue || (only != nullptr && *only != *queue)) continue;
        const auto extent = reader.extent(topic);
        ranges.insert(ranges.end(), extent.begin(), extent.end());
    }
    return ranges;
}

void KafkaDeadLetters::Impl::each_of(
    const std::vector<OffsetRange>& ranges, const OnFound& f, const OnDouble& on_double
) {
    std::map<Partition, Settled> hidden;
    std::map<Partition, std::unordered_set<std::string>> shown;
    for (const auto& range : ranges)
        if (range.from < range.to)
            hidden[range.partition] = settled(store, range.partition, range.from);
    reader.read(ranges, [&](Record record) {
        const auto life = life_of(record);
        if (hidden[record.partition].contains(record.offset, life)) return;
        if (!shown[record.partition].insert(life).second) {
            if (on_double) on_double(record, life);
            return;
        }
        auto letter =
            letter_of(record, queue_of_dead_topic(options, record.partition.topic).value_or(""));
        f({std::move(record), std::move(letter)});
    });
}

std::map<std::string, Found> KafkaDeadLetters::Impl::look_for(Ids ids, ReadExtent lives) {
    std::set<std::string> wanted;
    std::map<Partition, OffsetRange> ranges;  // The range of wanted offsets of each partition.
    for (const auto& id : ids) {
        const auto place = place_of_letter(id);
        if (!place || !is_topic(dead_topic(options, place->queue))) continue;
        wanted.insert(id);
        const Partition partition{dead_topic(options, place->queue), place->partition};
        const auto at =
            ranges.try_emplace(partition, OffsetRange{partition, place->offset, place->offset + 1})
                .first;
        at->second.from = std::min(at->second.from, place->offset);
        at->second.to = std::max(at->second.to, place->offset + 1);
    }
    std::vector<OffsetRange> there;
    std::map<std::string, std::vector<OffsetRange>> extents;
    const auto topics = wanted.empty() ? std::vector<std::string>{} : reader.topics();
    for (const auto& [partition, range] : ranges) {
        // Requesting an unknown topic might create it.
        if (std::find(topics.begin(), topics.end(), partition.topic) == topics.end()) continue;
        if (!extents.contains(partition.topic))
            extents[partition.topic] = reader.extent(partition.topic);
        for (const auto& extent : extents[partition.topic])
            if (extent.partition == partition)
                there.push_back(
                    {partition,
                     std::max(range.from, extent.from),
                     lives == ReadExtent::whole ? extent.to : std::min(range.to, extent.to)}
                );
    }
    std::map<std::string, Found> found;
    std::map<std::pair<Partition, std::string>, std::int64_t> last;
    each_of(
        there,
        [&](Found one) {
            if (wanted.contains(one.letter.id)) found.emplace(one.letter.id, std::move(one));
        },
        [&](const Record& again, const std::string& life) {
            last[{again.partition, life}] = again.offset;
        }
    );
    for (auto& [id, one] : found)
        if (const auto at = last.find({one.record.partition, one.at().life}); at != last.end())
            one.last_offset = at->second;
    return found;
}

std::vector<std::string> KafkaDeadLetters::Impl::settle(
    const std::map<std::string, Found>& found, Mark with, const AuditEntry& act
) {
    if (found.empty()) return {};
    std::map<Partition, std::int64_t> lows;
    for (const auto& [id, one] : found) lows[one.record.partition] = 0;
    for (auto& [partition, low] : lows)
        for (const auto& extent : reader.extent(partition.topic))
            if (extent.partition == partition) low = extent.from;
    return store::write_now(
        store,
        [&](store::Session& session) {
            std::vector<std::string> done;
            for (const auto& [id, one] : found) {
                if (!mark(session, one.at(), with, act)) continue;
                if (one.last_offset != one.record.offset)
                    mark(session, one.at(one.last_offset), with, act);
                done.push_back(id);
            }
            for (const auto& [partition, low] : lows) forget_marks(session, partition, low);
            if (!done.empty()) audit(session, act, with == Mark::purged ? "purge" : "merge", done);
            return done;
        },
        batch_deadline
    );
}

// Leaves only the unsettled ones in `found`.
void KafkaDeadLetters::Impl::begin_merging(
    std::map<std::string, Found>& found, const AuditEntry& act, bool called
) {
    const auto ours = store::write_now(
        store,
        [&](store::Session& session) {
            std::set<std::string> marked;
            for (const auto& [id, one] : found) {
                if (!mark(session, one.at(), Mark::merging, act)) continue;
                marked.insert(id);
                // Before the record is sent, so that its next call counts as a first one.
                if (!called)
                    detail::execute_statement(
                        session, sql::delete_job_call, options.group + "/" + one.letter.jid
                    );
            }
            return marked;
        },
        batch_deadline
    );
    std::erase_if(found, [&](const auto& one) { return !ours.contains(one.first); });
}

void KafkaDeadLetters::Impl::send(
    const std::map<std::string, Found>& found, const AuditEntry& act, bool called
) {
    std::vector<Record> records;
    const auto now = clock.now();
    for (const auto& [id, one] : found) {
        auto topic = main_topic(options, one.letter.queue);
        records.push_back(merged_record(one.record, std::move(topic), act.by, now, called));
    }
    const auto sent = producer.send(records);
    for (std::size_t i = 0; i < sent.size(); ++i)
        if (sent[i].state == DeliveryState::refused)
            producer.send(shortened(records[i]));
        else if (sent[i].state != DeliveryState::delivered)
            throw in_doubt(options, "merging into " + records[i].partition.topic, sent[i].why);
}

KafkaDeadLetters::KafkaDeadLetters(
    const KafkaOptions& options, store::Store& store, base::Clock& clock
)
    : impl_{new Impl{options, store, clock, TopicReader{options}, Producer{options}}} {}

KafkaDeadLetters::~KafkaDeadLetters() = default;

std::vector<DeadLetter> KafkaDeadLetters::page(
    const DeadLetterFilter& filter, const std::string& after, int limit
) {
    // Keeps at most `limit` in memory, however many there are.
    std::map<std::string, DeadLetter> first;
    impl_->each(filter.queue ? &*filter.queue : nullptr, [&](Found one) {
        if (one.letter.id <= after || !matches(filter, one.letter)) return;
        first.emplace(one.letter.id, std::move(one.letter));
        if (first.size() > static_cast<std::size_t>(std::max(limit, 0)))
            first.erase(std::prev(first.end()));
    });
    std::vector<DeadLetter> letters;
    for (auto& [id, letter] : first) letters.push_back(std::move(letter));
    return letters;
}

std::vector<DeadLetterGroup> KafkaDeadLetters::groups(const DeadLetterFilter& filter) {
    DeadLetterGroups groups;
    impl_->each(filter.queue ? &*filter.queue : nullptr, [&](const Found& one) {
        if (matches(filter, one.letter)) groups.add(one.letter);
    });
    return groups.sorted();
}

DeadCounts KafkaDeadLetters::counts(std::int64_t newest) {
    auto ranges = impl_->extents(nullptr);
    DeadCounts found;
    for (auto& range : ranges) {
        range.from = std::max(range.from, range.to - newest);
        found[queue_of_dead_topic(impl_->options, range.partition.topic).value_or("")] = 0;
    }
    impl_->each_of(ranges, [&](const Found& one) { ++found[one.letter.queue]; });
    return found;
}

std::optional<DeadLetter> KafkaDeadLetters::find(const std::string& id) {
    auto found = impl_->look_for(std::span{&id, 1}, ReadExtent::first);
    if (found.empty()) return std::nullopt;
    return std::move(found.begin()->second.letter);
}

PurgeResult KafkaDeadLetters::purge(Ids ids, const AuditEntry& act) {
    const auto found = impl_->look_for(ids, ReadExtent::whole);
    PAWL_FAULT("kafka.purge.before");
    const auto done = static_cast<int>(impl_->settle(found, Mark::purged, act).size());
    PAWL_FAULT("kafka.purge.after");
    return {done, static_cast<int>(ids.size()) - done, 0};
}

PurgeResult KafkaDeadLetters::merge(
    Ids ids, const AuditEntry& act, std::optional<TimePoint> remembered_since
) {
    auto found = impl_->look_for(ids, ReadExtent::whole);
    const auto forgotten = std::erase_if(found, [&](const auto& one) {
        const auto& called_at = one.second.letter.called_at;
        return remembered_since && called_at && *called_at < *remembered_since;
    });
    const bool called = remembered_since.has_value();
    PAWL_FAULT("kafka.merge.before");
    if (!found.empty()) impl_->begin_merging(found, act, called);
    impl_->send(found, act, called);
    PAWL_FAULT("kafka.merge.sent");
    const auto done = static_cast<int>(impl_->settle(found, Mark::merged, act).size());
    PAWL_FAULT("kafka.merge.after");
    const auto left = static_cast<int>(forgotten);
    return {done, static_cast<int>(ids.size()) - done - left, left};
}

}  // namespace pawl::queue
