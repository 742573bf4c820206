#pragma once

#include "src/engine/engine.hpp"
#include "src/ops/completer.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/engine/shop.hpp"
#include "tests/simulation/choices.hpp"
#include "tests/simulation/fiber.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pawl::simulation {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// Virtual time. The wall's may be set back or forth; the steady one never is.
class SimClock final : public core::Clock {
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

// Of keys, jitter and the like; not of what happens.
class SimRandom final : public core::Random {
public:
    explicit SimRandom(std::uint64_t seed) : state_{seed} {}
    std::uint64_t next() override {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return state_ ^ (state_ >> 29U);
    }

private:
    std::uint64_t state_;
};

// One process's way to the database that all share. What it submits waits until the scheduler lets
// it happen, one transaction at a time, in any order, as several connections would have it.
class ProcessStore final : public store::Store {
public:
    explicit ProcessStore(memory::MemoryStore& database) : database_{database} {}

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency) override {
        submit(std::move(work), true);
    }
    void read(std::unique_ptr<store::Work> work) override { submit(std::move(work), false); }
    std::optional<std::string_view> text_of(const Sql& statement) const override {
        return database_.text_of(statement);
    }
    bool serves_one_process() const override { return false; }
    void stop() override {}

    std::size_t waiting() const { return line_.size(); }
    // The nth that waits happens, with a fate if it would commit.
    void step(std::size_t nth, std::optional<memory::Fate> fate);
    // The process is dead: nothing of it reaches the database any more.
    void kill();

private:
    struct Waiting {
        std::unique_ptr<store::Work> work;
        bool writes{};
    };
    void submit(std::unique_ptr<store::Work> work, bool writes);

    memory::MemoryStore& database_;
    std::vector<Waiting> line_;
    bool dead_{false};
};

class SimTimers final : public engine::Timers {
public:
    explicit SimTimers(SimClock& clock) : clock_{clock} {}
    void after(milliseconds wait, std::function<void()> f) override {
        if (!stopped_) due_.emplace(clock_.steady() + wait, std::move(f));
    }
    void stop() override {
        stopped_ = true;
        due_.clear();
    }
    std::optional<Steady> next() const {
        return due_.empty() ? std::nullopt : std::optional{due_.begin()->first};
    }
    void run_first() {
        auto f = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        f();
    }

private:
    SimClock& clock_;
    std::multimap<Steady, std::function<void()>> due_;
    bool stopped_{false};
};

class SimCalls final : public engine::Calls {
public:
    bool post(std::function<void()> f) override {
        line_.push_back(std::move(f));
        return true;
    }
    bool is_full() override { return false; }
    std::size_t waiting() const { return line_.size(); }
    void run(std::size_t nth) {
        auto at = std::next(line_.begin(), static_cast<std::ptrdiff_t>(nth));
        auto f = std::move(*at);
        line_.erase(at);
        f();
    }

private:
    std::list<std::function<void()>> line_;
};

// What all processes of a history share.
struct Shared {
    SimClock& clock;
    SimRandom& random;
    memory::MemoryStore& database;
    testing::Provider& provider;
    engine::EngineOptions engine;
    ops::CompleterOptions completer;
    engine::Installation installation;
};

// A server: the real engine and completer, on virtual time.
class Process {
public:
    explicit Process(const Shared& shared);
    ~Process();  // kill() was called, or it rests.

    bool alive() const { return alive_; }
    // A SIGKILL: its objects end, and nothing of that reaches anybody. The provider is told before.
    void kill();

    // What can happen in it now: transactions, calls, a timer, a step of the completer.
    struct Event {
        enum class Kind { store, call, timer, completer } kind{};
        std::size_t nth{};
    };
    void add_events(std::vector<Event>& events) const;
    void happen(const Event& event, std::optional<memory::Fate> fate);
    // When something can, if nothing can now.
    std::optional<Steady> next() const;
    bool rests() const;

    engine::Engine& engine() { return *engine_; }
    Steady frozen_until{};  // A SIGSTOP.

private:
    void begin_completer();

    const Shared& shared_;
    ProcessStore store_;
    SimTimers timers_;
    SimCalls calls_;
    std::unique_ptr<engine::Engine> engine_;
    ops::Completer completer_;
    std::unique_ptr<Fiber> round_;  // Of the completer, under way.
    bool moved_{true};              // Since the round waited last.
    Steady next_round_{};
    bool alive_{true};
};

}  // namespace pawl::simulation
