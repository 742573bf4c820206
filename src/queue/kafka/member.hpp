#pragma once

#include "src/queue/kafka/client.hpp"
#include "src/queue/kafka/in_hand.hpp"
#include "src/queue/kafka/options.hpp"
#include "src/queue/kafka/record.hpp"

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

// What a member of a group tells, all on its own thread, which goes on only when they have
// returned: quick, and they throw nothing.
class MemberEvents {
public:
    virtual void assigned(const std::vector<Assigned>& partitions) = 0;
    // They are another's as soon as this has returned.
    virtual void revoked(const std::vector<Partition>& partitions) = 0;
    virtual void read(Record record) = 0;
    // Perhaps no broker answers any more: of each that goes, and of all of them.
    virtual void troubled(const std::string& why) = 0;
    // A broker says no to the group (no topic), or to reading a topic. Said once, however long it
    // lasts.
    virtual void refused(const std::string& topic, const std::string& why) = 0;
    // After each look at the brokers, ten times a second and more: what to commit, to stop and to
    // start reading.
    virtual std::vector<Position> to_commit() = 0;
    virtual void committed(const std::vector<Position>& positions) = 0;
    virtual std::vector<Partition> to_pause() = 0;
    virtual std::vector<Partition> to_resume() = 0;
    // Of partitions that are about to go.
    virtual std::vector<Position> last_positions(const std::vector<Partition>& partitions) = 0;

protected:
    ~MemberEvents() = default;
};

// One member of a consumer group with a thread of its own, so that the brokers hear of it while
// handlers run, however long (max.poll.interval.ms). Partitions go over one by one, and what stays
// is not disturbed (cooperative-sticky).
class Member {
public:
    // What a member reads: these topics, those that `more` finds among the cluster's, and those of
    // `wanted` are made if they are not there.
    struct Topics {
        std::vector<std::string> read;
        std::function<std::vector<std::string>(const std::vector<std::string>& there)> more;
        Wanted wanted;
    };
    // Joins in the background. `events` outlives it.
    Member(
        const KafkaOptions& options, const std::string& group, Topics topics, MemberEvents& events
    );
    ~Member();  // Commits, and leaves the group.
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // From any thread. All throw StoreError.
    Watermarks watermarks(const Partition& partition) const;
    void check_brokers() const;  // Throws if none answers within a second.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::queue::kafka
