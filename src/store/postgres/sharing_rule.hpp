#pragma once

#include "src/store/recent_kinds.hpp"

#include <chrono>

namespace pawl::postgres {

// How many connections run shared transactions now, and which works share. If all write the same
// rows, two shared transactions deadlock or wait for each other, while a single one is faster than
// one transaction each. So after one breaks up only one connection shares, and after another none,
// each time for longer. Works of a slow kind stay apart. Works of a kind that threw get a
// savepoint, which costs time; without one, a throw breaks up all. Not thread-safe.
class SharingRule {
public:
    using Moment = std::chrono::steady_clock::time_point;

    explicit SharingRule(int most) : most_{most} {}
    int connections(Moment now) const;
    bool allows(const void* kind, Moment now);
    void split(Moment now);
    void went_well();
    void keep_apart(const void* kind, Moment now);
    void threw(const void* kind, Moment now);
    bool needs_savepoint(const void* kind, Moment now) { return throwing_.has(kind, now); }

private:
    struct Pause {
        std::chrono::milliseconds length{0};
        Moment until{};
        void begin(Moment now);
        void shorten() { length -= length / 8; }
    };
    int most_;
    Pause of_all_but_one_;
    Pause of_all_;
    store::RecentKinds apart_;
    store::RecentKinds throwing_;
};

}  // namespace pawl::postgres
