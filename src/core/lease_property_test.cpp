#include "src/core/lease.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

// Laws over the whole life of a lease: processes with clocks of different speed, slow requests and
// answers, pauses, deaths and restarts, at one backend.
namespace pawl::core::lease_property_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds ttl{1'000};

// The backend: one row, with its own clock.
struct Place {
    std::optional<LeaseFacts> row;
    std::vector<std::string> names;  // Owns what the row views.
    std::vector<std::int64_t> given;

    std::optional<std::int64_t> take(std::string_view holder, TimePoint now) {
        const auto choice = decide_lease(row ? &*row : nullptr, holder, now);
        const auto* taken = std::get_if<LeaseAcquired>(&choice);
        if (taken == nullptr) return {};
        row = LeaseFacts{taken->epoch, holder, now + ttl, ttl};
        given.push_back(taken->epoch);
        return taken->epoch;
    }
    bool extend(std::int64_t epoch, std::string_view holder, TimePoint now) {
        if (!may_extend(row ? &*row : nullptr, epoch, holder, now)) return false;
        row->until = now + ttl;
        return true;
    }
    void release(std::string_view holder) {
        if (row && row->holder == holder) row->holder.reset();
    }
};

// A process that knows only its own steady clock, which is slow by up to half of the margin; the
// backend's clock is fast by the other half.
struct Process {
    std::string name;
    double speed{1};
    std::int64_t epoch{};
    SteadyTime end{};  // When it considers the lease lost.

    SteadyTime clock(milliseconds truth) const {
        return SteadyTime{std::chrono::duration_cast<steady_clock::duration>(
            std::chrono::duration<double, std::milli>{static_cast<double>(truth.count()) * speed}
        )};
    }
    bool believes(milliseconds truth) const { return epoch != 0 && clock(truth) < end; }
};

class World {
public:
    World() {
        for (std::size_t i = 0; i < processes.size(); ++i) {
            processes[i].name = "p" + std::to_string(i);
            processes[i].speed = 1 - 0.001 * *rc::gen::inRange(0, 48);
        }
        place_speed = 1 + 0.001 * *rc::gen::inRange(0, 48);
    }

    void live(int steps) {
        for (int n = 0; n < steps; ++n) {
            pass(*rc::gen::inRange(0, 400));
            auto& who = processes[*rc::gen::inRange<std::size_t>(0, processes.size())];
            const auto asked_at = who.clock(truth);
            const auto kind = *rc::gen::inRange(0, 10);
            // Its request travels, or it is paused, for any time.
            pass(*rc::gen::inRange(0, *rc::gen::arbitrary<bool>() ? 50 : 3'000));
            if (kind == 0) {
                place.release(who.name);
                who.epoch = 0;
            } else if (kind == 1) {
                who.epoch = 0;  // It dies, and starts anew.
            } else if (who.believes(truth)) {
                if (place.extend(who.epoch, who.name, place_now()))
                    who.end = holder_end(asked_at, ttl);
            } else {
                who.epoch = place.take(who.name, place_now()).value_or(0);
                who.end = holder_end(asked_at, ttl);
            }
            pass(*rc::gen::inRange(0, 50));  // The answer travels.
        }
    }

    std::array<Process, 3> processes;
    Place place;

private:
    TimePoint place_now() const {
        return TimePoint{milliseconds{
            static_cast<milliseconds::rep>(static_cast<double>(truth.count()) * place_speed)}};
    }
    // Checks each millisecond.
    void pass(int ms) {
        for (int n = 0; n < ms; ++n) {
            const auto holders = std::count_if(processes.begin(), processes.end(), [&](auto& who) {
                return who.believes(truth);
            });
            RC_ASSERT(holders <= 1);
            truth += milliseconds{1};
        }
    }

    milliseconds truth{1'000'000};
    double place_speed{1};
};

RC_GTEST_PROP(LeaseLaw, no_two_believe_that_they_hold_it, ()) {
    World world;
    world.live(*rc::gen::inRange(1, 30));
}

RC_GTEST_PROP(LeaseLaw, each_epoch_is_higher_than_all_before, ()) {
    World world;
    world.live(*rc::gen::inRange(1, 30));

    const auto& given = world.place.given;
    RC_ASSERT(std::adjacent_find(given.begin(), given.end(), std::greater_equal{}) == given.end());
}

RC_GTEST_PROP(LeaseLaw, one_that_is_not_renewed_is_free_after_its_ttl_whatever_the_clock_did, ()) {
    const TimePoint written{milliseconds{*rc::gen::inRange(0, 10'000'000)}};
    const LeaseFacts found{
        .epoch = *rc::gen::inRange(1, 1'000), .holder = "dead", .until = written + ttl, .ttl = ttl};
    const TimePoint now{milliseconds{*rc::gen::inRange(0, 10'000'000)}};

    const auto choice = decide_lease(&found, "heir", now);

    // After the clock was set back, it holds for twice as long at most.
    if (const auto* held = std::get_if<LeaseHeld>(&choice)) {
        RC_ASSERT(held->left > milliseconds{0});
        RC_ASSERT(held->left <= 2 * ttl);
    }
    if (now >= written + ttl) RC_ASSERT(std::holds_alternative<LeaseAcquired>(choice));
}

RC_GTEST_PROP(LeaseLaw, who_waits_looks_before_the_end_of_lease_and_wait, ()) {
    const milliseconds lease_left{*rc::gen::inRange(0, 100'000)};
    const milliseconds wait_left{*rc::gen::inRange(1, 100'000)};
    const auto dice = 0.001 * *rc::gen::inRange(0, 1'000);

    const auto wait = next_poll_in(lease_left, wait_left, *rc::gen::inRange(0, 100), dice);

    RC_ASSERT(wait >= milliseconds{1});
    RC_ASSERT(wait <= milliseconds{250});
    RC_ASSERT(wait <= wait_left);
    RC_ASSERT(wait <= lease_left + milliseconds{1});
}

}  // namespace
}  // namespace pawl::core::lease_property_test
