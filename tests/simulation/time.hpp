#pragma once

#include "src/base/clock.hpp"
#include "tests/simulation/fiber.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>

// Virtual time, and the strands that wait in it.
namespace pawl::simulation {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// The wall clock may be set back or forth; the steady clock never is.
class SimClock final : public base::Clock {
public:
    TimePoint now() override { return wall_; }
    Steady steady() override { return steady_; }
    void advance(milliseconds by) {
        wall_ += by;
        steady_ += by;
    }
    void set_wall(milliseconds by) { wall_ += by; }  // As an administrator or NTP does.

private:
    TimePoint wall_{1'800'000'000'000ms};
    Steady steady_{1h};
};

// A thread of a simulated process: it runs until it waits, for others or for a time.
class Strand {
public:
    explicit Strand(std::function<void()> body) : fiber_{std::move(body)} {}

    void resume() {
        auto* before = std::exchange(running(), this);
        fiber_.resume();
        running() = before;
    }
    bool ended() const { return fiber_.ended(); }
    // When it continues, if it waits only for a time.
    Steady wakes() const { return wakes_; }
    bool may_go_on(Steady now) const { return wakes_ <= now && (!is_there_ || (*is_there_)()); }

    // The running strand waits until this is true.
    static void wait_until(const std::function<bool()>& is_there) {
        if (is_there()) return;
        auto* self = running();
        if (self == nullptr) throw std::logic_error{"a wait outside of a strand"};
        self->is_there_ = &is_there;
        while (!is_there()) Fiber::yield();
        self->is_there_ = nullptr;
    }
    // Others may run before it continues.
    static void yield() {
        if (!Fiber::yield()) throw std::logic_error{"a queue is used outside of a strand"};
    }

    // The running strand waits until then, or until its process is dead. Outside of a strand it
    // returns at once.
    static void sleep_until(Steady at) {
        auto* self = running();
        if (self == nullptr) return;
        self->wakes_ = at;
        Fiber::yield();
        self->wakes_ = {};
    }

private:
    static Strand*& running() {
        thread_local Strand* one = nullptr;
        return one;
    }
    Fiber fiber_;
    Steady wakes_{};
    const std::function<bool()>* is_there_{nullptr};
};

}  // namespace pawl::simulation
