#pragma once

#include "src/queue/kafka/gaps.hpp"
#include "src/queue/kafka/record.hpp"
#include "src/queue/queue.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pawl::queue::kafka {

// A job's place and claim number; fences a worker's writes.
struct Token {
    Partition partition;
    std::int64_t offset{};
    std::int64_t claim{};
};

// What may be committed: all before `offset` is done, and `gaps` says what is done after it.
struct Position {
    Partition partition;
    std::int64_t offset{};
    std::string gaps;
};

// The records of the assigned partitions: waiting until due, claimed by workers, done. No I/O,
// clock or lock: the owner guards it. An undone record holds back its partition's offset, so a
// crash loses nothing. Revoking a partition forgets its records, which fences their workers.
class InFlightRecords {
public:
    // Reading of a partition pauses at this number of records, at this number of bytes, or this far
    // ahead of its committed offset.
    struct Limits {
        std::size_t records{1'000};
        std::size_t bytes{16U << 20U};
        std::int64_t ahead{100'000};
    };
    explicit InFlightRecords(Limits limits) : limits_{limits} {}

    // `committed`: the offset from which the partition is read; nullopt: none was committed.
    // `gaps`: what is done after it.
    void assign(
        const Partition& partition, std::optional<std::int64_t> committed, std::string_view gaps
    );
    void revoke(const Partition& partition);
    std::vector<Partition> partitions() const;

    // False if the record is not to be worked: not assigned, already held, or done.
    bool add(std::shared_ptr<const Record> record, TimePoint due);

    struct Claimed {
        Token token;
        std::shared_ptr<const Record> record;
    };
    // Claims due records that the filter admits, the longest due first.
    std::vector<Claimed> claim(
        int limit, TimePoint now, TimePoint lease_until, const ClaimFilter& filter = {}
    );
    bool any_due(TimePoint now, const ClaimFilter& filter = {}) const;
    std::optional<TimePoint> next_due() const;  // When the next waiting record is due.

    // With an outdated token all of these return false or nullptr.
    std::shared_ptr<const Record> find(const Token& token) const;
    bool renew(const Token& token, TimePoint lease_until);
    bool done(const Token& token);
    bool release(const Token& token);  // The record waits as before.
    // Releases records whose lease has ended, or ends later than any can; returns how many.
    int rescue(TimePoint now, TimePoint bound);

    // Positions that changed since the last committed().
    std::vector<Position> positions() const;
    // nullopt: nothing to commit.
    std::optional<Position> position(const Partition& partition) const;
    void committed(const Position& position);
    // The next offset to read; nullopt: the partition is not assigned.
    std::optional<std::int64_t> next(const Partition& partition) const;

    // Which partitions to stop or start reading; each is reported once.
    std::vector<Partition> to_pause();
    std::vector<Partition> to_resume();

private:
    using Waiting = std::tuple<TimePoint, std::uint64_t, Partition, std::int64_t>;
    // By failures and kind, so that a claim need not look at the jobs that it leaves out.
    using Class = std::pair<int, std::string>;
    using Classes = std::map<Class, std::set<Waiting>>;
    struct Held {
        std::shared_ptr<const Record> record;
        Class of;
        TimePoint due{};
        std::uint64_t order{};
        std::int64_t claim{};  // 0: not claimed.
        TimePoint lease_until{};
    };
    struct Part {
        std::int64_t next{0};  // 0 until a record is read or an offset is committed.
        std::map<std::int64_t, Held> held;
        std::vector<Offsets> done_before;  // By the previous owner.
        std::size_t bytes{0};
        std::optional<std::pair<std::int64_t, std::string>> reported;
        bool paused{false};
    };

    const Held* look(const Token& token) const;
    Held* look(const Token& token);
    // The class whose first record has been due longest; end(): none is due.
    Classes::const_iterator first_due(TimePoint now, const ClaimFilter& filter) const;
    void erase_waiting(const Class& of, const Waiting& waiting);
    void wait(const Partition& partition, std::int64_t offset, Held& held);
    bool is_full(const Part& part) const;
    bool has_room(const Part& part) const;
    static Position position_of(const Partition& partition, const Part& part);

    Limits limits_;
    std::map<Partition, Part> parts_;
    Classes waiting_;  // Without empty ones.
    std::uint64_t orders_{0};
    std::int64_t claims_{0};
};

}  // namespace pawl::queue::kafka
