#pragma once

#include "src/queue/kafka/gaps.hpp"
#include "src/queue/kafka/record.hpp"

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

// A job's place and the number of its taking: what fences a worker's writes.
struct Token {
    Partition partition;
    std::int64_t offset{};
    std::int64_t claim{};
};

// What may be committed: all before `offset` is done, and of what is behind it what `gaps` say.
struct Position {
    Partition partition;
    std::int64_t offset{};
    std::string gaps;
};

// The records of the partitions that are ours: read, waiting until they are due, in the hands of
// workers, done. No I/O, no clock, no lock: its owner guards it. What is not done holds its
// partition's offset back, so nothing is lost by dying; what belongs to a partition that was taken
// away is forgotten, so that who worked on it writes nothing.
class InHand {
public:
    // A partition with so many records in hand, so many bytes of them, or so far ahead of its
    // committed offset is read no further.
    struct Limits {
        std::size_t records{1'000};
        std::size_t bytes{16U << 20U};
        std::int64_t ahead{100'000};
    };
    explicit InHand(Limits limits) : limits_{limits} {}

    // `committed`: the offset from which it is read, if one was committed, and what is done behind.
    void assign(
        const Partition& partition, std::optional<std::int64_t> committed, std::string_view gaps
    );
    void revoke(const Partition& partition);
    std::vector<Partition> partitions() const;

    // False if it is not to be worked: its partition is another's, it is in hand, or it was done.
    bool add(std::shared_ptr<const Record> record, TimePoint due);

    struct Taken {
        Token token;
        std::shared_ptr<const Record> record;
    };
    // Those due, the longest due first.
    std::vector<Taken> take(int limit, TimePoint now, TimePoint lease_until);
    bool any_due(TimePoint now) const;
    std::optional<TimePoint> next_due() const;  // Of those that wait.

    // All of these are false, or nothing, for a token that is no more the last.
    std::shared_ptr<const Record> find(const Token& token) const;
    bool renew(const Token& token, TimePoint lease_until);
    bool done(const Token& token);
    bool give_back(const Token& token);  // Untouched: it waits as before.
    // Gives back what has a lease that ended, or that ends later than any can; how many.
    int rescue(TimePoint now, TimePoint bound);

    // Positions that moved since they were last told to committed().
    std::vector<Position> positions() const;
    std::optional<Position> position(const Partition& partition) const;  // Nothing: none to commit.
    void committed(const Position& position);
    // The next offset of a partition that was not read yet; nothing if it is not ours.
    std::optional<std::int64_t> next(const Partition& partition) const;

    // Which to stop or start reading, each told once.
    std::vector<Partition> to_pause();
    std::vector<Partition> to_resume();

private:
    using Waiting = std::tuple<TimePoint, std::uint64_t, Partition, std::int64_t>;
    struct Held {
        std::shared_ptr<const Record> record;
        TimePoint due{};
        std::uint64_t order{};
        std::int64_t claim{};  // 0: it waits.
        TimePoint lease_until{};
    };
    struct Part {
        std::int64_t next{0};  // 0 until something is read or known to be committed.
        std::map<std::int64_t, Held> held;
        std::vector<Offsets> done_before;  // By whom it belonged to.
        std::size_t bytes{0};
        std::optional<std::pair<std::int64_t, std::string>> told;
        bool paused{false};
    };

    const Held* look(const Token& token) const;
    Held* look(const Token& token);
    void wait(const Partition& partition, std::int64_t offset, Held& held);
    bool is_full(const Part& part) const;
    bool has_room(const Part& part) const;
    static Position position_of(const Partition& partition, const Part& part);

    Limits limits_;
    std::map<Partition, Part> parts_;
    std::set<Waiting> waiting_;
    std::uint64_t orders_{0};
    std::int64_t claims_{0};
};

}  // namespace pawl::queue::kafka
