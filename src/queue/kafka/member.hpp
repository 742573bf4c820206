#pragma once

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/in_flight_records.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"
#include "src/queue/kafka/topic_creator.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace pawl::queue::kafka {

struct Assigned {
    Partition partition;
    std::optional<std::int64_t> committed;
    std::string gaps;
};

// Events of a group's member, all called on its own thread, which blocks meanwhile: they must be
// quick and must not throw.
class MemberEvents {
public:
    virtual void assigned(const std::vector<Assigned>& partitions) = 0;
    // The partitions may belong to another member as soon as this returns.
    virtual void revoked(const std::vector<Partition>& partitions) = 0;
    virtual void read(Record record) = 0;
    // Kafka has removed records that the group had not committed: at most `count`.
    virtual void removed(const Partition& partition, std::int64_t count) = 0;
    // A broker, or all of them, may be unreachable.
    virtual void troubled(const std::string& why) = 0;
    // A broker refuses the group (empty topic), or reading a topic. Reported once.
    virtual void refused(const std::string& topic, const std::string& why) = 0;
    // Called after each poll, at least ten times a second: what to commit, to pause and to resume.
    virtual std::vector<Position> to_commit() = 0;
    virtual void committed(const std::vector<Position>& positions) = 0;
    virtual std::vector<Partition> to_pause() = 0;
    virtual std::vector<Partition> to_resume() = 0;
    // For partitions that are about to be revoked.
    virtual std::vector<Position> last_positions(const std::vector<Partition>& partitions) = 0;

protected:
    ~MemberEvents() = default;
};

// One member of a consumer group with a thread of its own, so that it keeps polling while handlers
// run, however long (max.poll.interval.ms). Partitions are handed over one by one, without
// disturbing the others (cooperative-sticky).
class Member {
public:
    // The topics to read: `read`, and those that `more` selects from the cluster's. `wanted` are
    // created if they are missing.
    struct Topics {
        std::vector<std::string> read;
        std::function<std::vector<std::string>(const std::vector<std::string>& there)> more;
        Wanted wanted;
    };
    // Joins in the background. `events` outlives the member.
    Member(
        const KafkaOptions& options, const std::string& group, Topics topics, MemberEvents& events
    );
    ~Member();  // Commits, and leaves the group.
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Thread-safe. Both throw StoreError.
    Watermarks watermarks(const Partition& partition) const;
    void check_brokers() const;  // Throws if no broker answers within a second.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue::kafka
