#include "src/queue/kafka/kafka_queue.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/core/claim_rule.hpp"
#include "src/core/fault.hpp"
#include "src/queue/inbox.hpp"
#include "src/queue/kafka/in_flight_records.hpp"
#include "src/queue/kafka/job_record.hpp"
#include "src/queue/kafka/member.hpp"
#include "src/queue/kafka/producer.hpp"
#include "src/queue/kafka/topics.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace pawl::queue {

using namespace kafka;
using detail::column_as;
using detail::execute_statement;
using detail::read_row;
using detail::Row;
using detail::run_statement;

namespace {

// How long a first call is remembered without a finish: longer than any topic keeps the job.
constexpr std::chrono::hours call_memory{30 * 24};
constexpr std::chrono::hours forget_every{1};
constexpr int forget_max = 1'000;
// The key in why_refused of a refusal that concerns the group.
constexpr const char* no_topic = "";

Token token_of(const ClaimedJob& job) {
    const auto last = job.id.rfind('/');
    const auto first = job.id.rfind('/', last - 1);
    if (last == job.id.npos || first == job.id.npos) return {};
    const auto text = std::string_view{job.id};
    const auto partition = number_of(text.substr(first + 1, last - first - 1));
    const auto offset = number_of(text.substr(last + 1));
    if (!partition || !offset) return {};
    return {{std::string{text.substr(0, first)}, static_cast<int>(*partition)}, *offset, job.claim};
}

// What the store knows of jobs, by their inbox ids.
struct Known {
    std::map<std::string, std::optional<TimePoint>> called;
    std::map<std::string, bool> done;
};

Known look_up(store::Store& store, const std::vector<std::string>& ids) {
    return store::read_now(store, [&](store::Session& session) {
        Known known;
        const auto list = detail::encode(ids);
        run_statement(
            session,
            sql::find_jobs_done,
            [&](const Row& row) { known.done[std::string{row.text(0)}] = true; },
            list
        );
        run_statement(
            session,
            sql::find_job_calls,
            [&](const Row& row) {
                known.called[std::string{row.text(0)}] =
                    column_as<TimePoint>(row, 1, "find_job_calls");
            },
            list
        );
        return known;
    });
}

std::optional<TimePoint> earlier(std::optional<TimePoint> one, std::optional<TimePoint> other) {
    if (!one || !other) return one ? one : other;
    return std::min(*one, *other);
}

}  // namespace

struct KafkaQueue::Impl final : MemberEvents {
    Impl(KafkaOptions given, std::string queue, store::Store& home, base::Clock& time)
        : options{std::move(given)},
          name{std::move(queue)},
          store{home},
          clock{time},
          in_flight{InFlightRecords::Limits{.records = static_cast<std::size_t>(options.hold_max)}},
          producer{options},
          next_forget{clock.now()} {
        if (const auto wrong = options.problem()) throw std::invalid_argument{*wrong};
        for (const auto& topic : worked_topics(options, name))
            if (!is_topic(topic))
                throw std::invalid_argument{"Kafka allows no topic named " + topic};
    }

    void assigned(const std::vector<Assigned>& partitions) override {
        const std::lock_guard lock{mutex};
        for (const auto& [partition, committed_at, gaps] : partitions)
            in_flight.assign(partition, committed_at, gaps);
        // The group has accepted us, even without partitions; these topics are readable again.
        why_refused.erase(no_topic);
        for (const auto& [partition, committed_at, gaps] : partitions)
            why_refused.erase(partition.topic);
        changed.notify_all();
    }
    void revoked(const std::vector<Partition>& partitions) override {
        const std::lock_guard lock{mutex};
        for (const auto& partition : partitions) in_flight.revoke(partition);
        changed.notify_all();
    }
    void read(Record record) override {
        const auto due = due_of(record, clock.now());
        const std::lock_guard lock{mutex};
        why_troubled.clear();
        why_refused.erase(no_topic);
        why_refused.erase(record.partition.topic);
        in_flight.add(std::make_shared<const Record>(std::move(record)), due);
        changed.notify_all();
    }
    void removed(const Partition& partition, std::int64_t count) override {
        if (!options.log) return;
        options.log(
            "PAWL0023: Kafka has removed up to " + std::to_string(count) + " records of " +
            partition.topic + "[" + std::to_string(partition.number) +
            "] that were not worked: retention.ms or retention.bytes of the topic is too small"
        );
    }
    void troubled(const std::string& why) override {
        const std::lock_guard lock{mutex};
        why_troubled = why;
        changed.notify_all();
    }
    void refused(const std::string& topic, const std::string& why) override {
        const std::lock_guard lock{mutex};
        why_refused[topic] = why;
        changed.notify_all();
    }
    std::vector<Position> to_commit() override {
        const std::lock_guard lock{mutex};
        return in_flight.positions();
    }
    void committed(const std::vector<Position>& positions) override {
        const std::lock_guard lock{mutex};
        for (const auto& position : positions) in_flight.committed(position);
        changed.notify_all();
    }
    std::vector<Partition> to_pause() override {
        const std::lock_guard lock{mutex};
        return in_flight.to_pause();
    }
    std::vector<Partition> to_resume() override {
        const std::lock_guard lock{mutex};
        return in_flight.to_resume();
    }
    std::vector<Position> last_positions(const std::vector<Partition>& partitions) override {
        const std::lock_guard lock{mutex};
        std::vector<Position> last;
        for (const auto& partition : partitions)
            if (auto position = in_flight.position(partition)) last.push_back(std::move(*position));
        return last;
    }

    // The id in the inbox and in pawl_job_calls. Has the group, as others may do the same job.
    std::string inbox_id(const ClaimedJob& job) const { return options.group + "/" + job.raw.jid; }

    // Throws if nothing is due and nothing can arrive: no broker answers, or one refuses us.
    void check_trouble() {
        std::string why;
        {
            const std::lock_guard lock{mutex};
            if (in_flight.any_due(clock.now())) return;
            if (!why_refused.empty())
                throw trouble(options, "reading " + name, why_refused.begin()->second);
            if (why_troubled.empty()) return;
            why = std::exchange(why_troubled, {});  // Keeps an error that arrives during the check.
        }
        try {
            member->check_brokers();
        } catch (const StoreError&) {
            const std::lock_guard lock{mutex};
            if (why_troubled.empty()) why_troubled = why;
            throw trouble(options, "reading " + name, why);
        }
    }

    std::vector<InFlightRecords::Claimed> take_due(
        int limit, std::chrono::milliseconds lease, const ClaimFilter& filter, bool wait
    ) {
        std::unique_lock lock{mutex};
        if (wait)
            changed.wait_for(lock, options.claim_wait, [&] {
                return in_flight.any_due(clock.now(), filter) || !why_troubled.empty() ||
                       !why_refused.empty();
            });
        const auto now = clock.now();
        return in_flight.claim(limit, now, now + lease, filter);
    }

    void release(const std::vector<InFlightRecords::Claimed>& taken) {
        const std::lock_guard lock{mutex};
        for (const auto& one : taken) in_flight.release(one.token);
    }

    bool done(const ClaimedJob& job) {
        const std::lock_guard lock{mutex};
        const bool ours = in_flight.done(token_of(job));
        changed.notify_all();
        return ours;
    }

    std::shared_ptr<const Record> find(const ClaimedJob& job) {
        const std::lock_guard lock{mutex};
        return in_flight.find(token_of(job));
    }

    // Adds the jobs that are to be worked; returns how many.
    std::size_t add_jobs(
        const std::vector<InFlightRecords::Claimed>& taken, std::vector<ClaimedJob>& jobs
    );
    void send_or_shorten(Record record);
    void forget_old_calls();

    const KafkaOptions options;
    const std::string name;
    store::Store& store;
    base::Clock& clock;

    std::mutex mutex;
    std::condition_variable changed;
    InFlightRecords in_flight;
    std::string why_troubled;  // Cleared when a broker answers.
    // By topic; no_topic for the group. Cleared when a record of the topic is read or a partition
    // of it assigned: for a topic without records only the assignment shows that it is readable
    // again.
    std::map<std::string, std::string> why_refused;
    Producer producer;
    TimePoint next_forget;
    // Last member: its thread ends before the others are destroyed.
    std::unique_ptr<Member> member;
};

std::size_t KafkaQueue::Impl::add_jobs(
    const std::vector<InFlightRecords::Claimed>& taken, std::vector<ClaimedJob>& jobs
) {
    std::vector<ClaimedJob> found;
    std::vector<std::string> ids;
    for (const auto& [token, record] : taken) {
        auto job = job_of(*record, name);
        job.refused = expired_text(*record, clock.now());
        job.claim = token.claim;
        ids.push_back(inbox_id(job));
        found.push_back(std::move(job));
    }
    if (found.empty()) return 0;
    Known known;
    try {
        known = look_up(store, ids);
    } catch (...) {
        release(taken);
        throw;
    }
    std::size_t added = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (known.done.contains(ids[i])) {  // Its offset was not committed, or it was pushed twice.
            done(found[i]);
            continue;
        }
        if (const auto at = known.called.find(ids[i]); at != known.called.end())
            found[i].called_at = earlier(found[i].called_at, at->second);
        jobs.push_back(std::move(found[i]));
        ++added;
    }
    return added;
}

// A record close to the broker's limit may exceed it with our headers.
void KafkaQueue::Impl::send_or_shorten(Record record) {
    try {
        producer.send(record);
    } catch (const StoreError& error) {
        if (error.kind() != StoreError::Kind::refused) throw;
        producer.send(shortened(std::move(record)));
    }
}

void KafkaQueue::Impl::forget_old_calls() {
    const auto now = clock.now();
    {
        const std::lock_guard lock{mutex};
        if (now < next_forget) return;
        next_forget = now + forget_every;
    }
    store::write_now(store, [&](store::Session& session) {
        return execute_statement(
            session, sql::forget_job_calls, session.now() - call_memory, forget_max
        );
    });
}

KafkaQueue::KafkaQueue(
    KafkaOptions options, std::string name, store::Store& store, base::Clock& clock
)
    : impl_{std::make_unique<Impl>(std::move(options), std::move(name), store, clock)} {
    const auto& given = impl_->options;
    Member::Topics topics;
    topics.read = worked_topics(given, impl_->name);
    topics.more = [impl = impl_.get()](const std::vector<std::string>& there) {
        return topics_of_old_layers(impl->options, impl->name, there);
    };
    for (const auto& topic : topics.read) topics.wanted.emplace_back(topic, given.partitions);
    // One partition: keeps the order of the deaths.
    topics.wanted.emplace_back(dead_topic(given, impl_->name), 1);
    impl_->member = std::make_unique<Member>(
        given, consumer_group(given, impl_->name), std::move(topics), *impl_
    );
}

KafkaQueue::~KafkaQueue() {
    impl_->member.reset();
}

std::vector<ClaimedJob> KafkaQueue::claim(
    int limit, std::chrono::milliseconds lease, const ClaimFilter& filter
) {
    impl_->check_trouble();
    std::vector<ClaimedJob> jobs;
    for (bool first = true; static_cast<int>(jobs.size()) < limit; first = false) {
        const int missing = limit - static_cast<int>(jobs.size());
        const auto taken = impl_->take_due(missing, lease, filter, first);
        if (taken.empty()) break;
        impl_->add_jobs(taken, jobs);
    }
    PAWL_FAULT("kafka.take.after");
    return jobs;
}

bool KafkaQueue::renew(const ClaimedJob& job, std::chrono::milliseconds lease) {
    const std::lock_guard lock{impl_->mutex};
    return impl_->in_flight.renew(token_of(job), impl_->clock.now() + lease);
}

FinishResult KafkaQueue::finish_in_transaction(detail::Session& session, const ClaimedJob& job) {
    if (!impl_->find(job)) return FinishResult::lost;
    const auto id = impl_->inbox_id(job);
    if (execute_statement(session, sql::insert_done, id, session.now()) == 0)
        return FinishResult::done_before;
    if (job.called_at) execute_statement(session, sql::delete_job_call, id);
    return FinishResult::done;
}

bool KafkaQueue::done_before(detail::Session& session, const ClaimedJob& job) {
    return is_in_inbox(session, impl_->inbox_id(job));
}

void KafkaQueue::finished(const ClaimedJob& job) {
    impl_->done(job);
}

bool KafkaQueue::finish(const ClaimedJob& job) {
    if (!impl_->find(job)) return false;
    PAWL_FAULT("kafka.finish.before");
    store::write_now(impl_->store, [&](store::Session& session) {
        const auto id = impl_->inbox_id(job);
        execute_statement(session, sql::insert_done, id, session.now());
        return execute_statement(session, sql::delete_job_call, id);
    });
    PAWL_FAULT("kafka.finish.after");
    impl_->done(job);
    return true;
}

bool KafkaQueue::reschedule(
    const ClaimedJob& job, std::chrono::milliseconds wait, const std::optional<std::string>& error
) {
    const auto record = impl_->find(job);
    if (!record) return false;
    const auto& options = impl_->options;
    const auto now = impl_->clock.now();
    const auto layer = layer_for(options.layers, wait);
    PAWL_FAULT("kafka.reschedule.before");
    impl_->send_or_shorten(retry_record(
        *record,
        job,
        retry_topic(options, impl_->name, layer),
        options.group,
        now + wait,
        error,
        now
    ));
    PAWL_FAULT("kafka.reschedule.after");
    impl_->done(job);
    return true;
}

void KafkaQueue::release(const std::vector<ClaimedJob>& jobs) {
    const std::lock_guard lock{impl_->mutex};
    for (const auto& job : jobs) impl_->in_flight.release(token_of(job));
    impl_->changed.notify_all();
}

bool KafkaQueue::dead_letter(const ClaimedJob& job, const std::string& error) {
    const auto record = impl_->find(job);
    if (!record) return false;
    const auto& options = impl_->options;
    PAWL_FAULT("kafka.dead_letter.before");
    impl_->send_or_shorten(dead_record(
        *record, job, dead_topic(options, impl_->name), options.group, error, impl_->clock.now()
    ));
    PAWL_FAULT("kafka.dead_letter.after");
    impl_->done(job);
    return true;
}

bool KafkaQueue::mark_called(ClaimedJob& job) {
    if (!impl_->find(job)) return false;
    const auto id = impl_->inbox_id(job);
    const auto first = store::write_now(impl_->store, [&](store::Session& session) {
        const auto now = session.now();
        execute_statement(session, sql::insert_job_call, id, earlier(job.called_at, now).value());
        return read_row(
            session,
            sql::find_job_calls,
            [](const Row& row) { return column_as<TimePoint>(row, 1, "find_job_calls"); },
            detail::encode(std::vector<std::string>{id})
        );
    });
    job.called_at = earlier(job.called_at, first);
    return job.called_at && impl_->find(job) != nullptr;
}

int KafkaQueue::rescue(std::chrono::milliseconds lease) {
    impl_->forget_old_calls();
    const std::lock_guard lock{impl_->mutex};
    const auto now = impl_->clock.now();
    const int rescued = impl_->in_flight.rescue(now, core::lease_bound(now, lease));
    if (rescued > 0) impl_->changed.notify_all();
    return rescued;
}

std::optional<TimePoint> KafkaQueue::next_due() {
    const std::lock_guard lock{impl_->mutex};
    return impl_->in_flight.next_due();
}

bool KafkaQueue::wait_read(std::chrono::milliseconds limit) {
    std::vector<Partition> partitions;
    {
        std::unique_lock lock{impl_->mutex};
        const auto has_any = [&] {
            partitions = impl_->in_flight.partitions();
            return !partitions.empty();
        };
        if (!impl_->changed.wait_for(lock, limit, has_any)) return false;
    }
    std::map<Partition, Watermarks> there;
    for (const auto& partition : partitions)
        there[partition] = impl_->member->watermarks(partition);
    std::unique_lock lock{impl_->mutex};
    return impl_->changed.wait_for(lock, limit, [&] {
        return std::all_of(there.begin(), there.end(), [&](const auto& one) {
            const auto next = impl_->in_flight.next(one.first);
            return !next || std::max(*next, one.second.low) >= one.second.high;
        });
    });
}

bool KafkaQueue::wait_committed(std::chrono::milliseconds limit) {
    std::unique_lock lock{impl_->mutex};
    return impl_->changed.wait_for(lock, limit, [this] {
        return impl_->in_flight.positions().empty();
    });
}

std::size_t KafkaQueue::partition_count() {
    const std::lock_guard lock{impl_->mutex};
    return impl_->in_flight.partitions().size();
}

}  // namespace pawl::queue
