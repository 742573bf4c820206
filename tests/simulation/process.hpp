#pragma once

#include "src/engine/engine.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/enqueuer.hpp"
#include "src/ops/pauses.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/servers.hpp"
#include "src/ops/worker.hpp"
#include "src/queue/embedded/embedded_dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "tests/simulation/outside_queue.hpp"
#include "tests/simulation/process_store.hpp"
#include "tests/simulation/steward.hpp"
#include "tests/simulation/time.hpp"
#include "tests/simulation/trade.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

// Random numbers for keys and jitter, but not for choices of events.
class SimRandom final : public base::Random {
public:
    explicit SimRandom(std::uint64_t seed) : state_{seed} {}
    std::uint64_t next() override {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return state_ ^ (state_ >> 29U);
    }

private:
    std::uint64_t state_;
};

class SimTimers final : public base::Timers {
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
        line_.push_back({std::move(f), nullptr});
        return true;
    }
    bool is_full() override { return false; }
    std::size_t waiting() const { return line_.size(); }
    Steady wakes(std::size_t nth) const;
    // Runs it to its end, or until it sleeps.
    void run(std::size_t nth);

private:
    struct Posted {
        std::function<void()> f;
        std::unique_ptr<Strand> strand;  // Set when it begins.
    };
    std::list<Posted> line_;
};

// State that all processes of a history share.
struct Shared {
    SimClock& clock;
    SimRandom& random;
    memory::MemoryStore& database;
    Broker& broker;
    Banks banks;
    Receiver& mail;
    Receiver& carrier;
    bool outside;  // Jobs go through the broker.
    bool works;    // Whether there are workers.
    bool reaps;
    bool beats;  // Servers beat, and end those that are dead.
    HeldLocks& locks;
    engine::EngineOptions engine;
    ops::CompleterOptions completer;
    ops::ServersOptions servers;
    ops::WorkerOptions worker;
    core::QueueLimits mail_limits;
    engine::Installation installation;
    OnJob on_job;
    OutsideQueue::Way way;
    std::function<bool()> keeps_books;  // Called when stewards begin; empty: there are none.
    Beliefs& beliefs;
    Steward::Wrong books_are_wrong;
    // An operator's work on dead letters and jobs; empty: there is no operator.
    std::function<void(queue::DeadLetters&, queue::EmbeddedJobs&)> operate;
};

// A server: the real engine and services on virtual time.
class Process {
public:
    // `number`: another one for each start.
    Process(const Shared& shared, int number);
    ~Process();  // After kill(), or when it is idle.

    bool alive() const { return alive_; }
    // A SIGKILL: its objects are destroyed without any outside effect. The receivers are told
    // before.
    void kill();

    // A possible next event: a transaction, a call, a timer, a step of a service's round.
    struct Event {
        enum class Kind { store, call, timer, round } kind{};
        std::size_t nth{};
    };
    void add_events(std::vector<Event>& events) const;
    void happen(const Event& event, std::optional<memory::CommitFate> fate);
    std::string_view name_of(const Event& event) const;
    // When the next event is possible, if none is now.
    std::optional<Steady> next() const;
    bool rests() const;

    engine::Engine& engine() { return *engine_; }
    Steady frozen_until{};  // Stopped by SIGSTOP until then.

private:
    // A service's rounds: one now and then, each on its own strand.
    struct Round {
        std::string_view name;
        milliseconds every;
        std::function<void()> body;
        Steady next;
        std::unique_ptr<Strand> strand{};  // Set while a round runs.
    };
    void add_work(std::string_view name, ops::Worker& worker);
    void add_round(std::string_view name, milliseconds every, std::function<void()> body);
    void hurry(std::string_view name);
    void step(Round& round);
    bool may_go_on(const Round& round) const {
        const auto now = shared_.clock.steady();
        return round.strand ? round.strand->may_go_on(now) : round.next <= now;
    }
    OutsideQueue::Way way();

    const Shared& shared_;
    ProcessStore store_;
    SimTimers timers_;
    SimCalls calls_;
    Router router_{three_banks()};
    std::unique_ptr<engine::Engine> engine_;
    queue::EmbeddedQueue embedded_;
    queue::EmbeddedQueue embedded_mails_;
    OutsideQueue outside_;
    OutsideQueue outside_mails_;
    queue::EmbeddedDeadLetters dead_letters_;
    queue::EmbeddedJobs jobs_{store_};
    ops::Pauses pauses_;
    ops::Completer completer_;
    ops::Reaper reaper_;
    ops::Enqueuer enqueuer_;
    ops::Worker worker_;
    ops::Worker mailer_;
    ops::Servers servers_;
    Steward steward_;
    std::vector<Round> rounds_;
    bool alive_{true};
};

}  // namespace pawl::simulation
