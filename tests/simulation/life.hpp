#pragma once

#include "tests/simulation/checks.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/home.hpp"
#include "tests/simulation/process.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

inline constexpr milliseconds lease{30s};
inline constexpr milliseconds client_timeout{8s};
// Both shorter than a lease. Few beats, for speed.
inline constexpr core::ServerTimes server_times{
    .beat_every = 4s, .silent_min = 9s, .silent_max = 20s};
inline constexpr milliseconds days{73h};  // Longer than keys are kept, and than receivers remember.
inline constexpr milliseconds hours{3h};  // Longer than the second bank remembers.

struct Client {
    Asked asked;
    std::string tenant;
    std::string key;
    std::string_view operation{Buy::name};
    int tries{0};
    int tries_max{0};  // After these it gives up.
    int repeats{1};    // After its final answer, to compare.
    Steady wakes{};
    std::optional<Steady> waits_until{};  // For an answer to its try.
    int clock_steps{0};                   // The history's count when it sent that.
    bool is_answered{false};  // A client with this key had an answer before this try was sent.
    bool rests{false};
};

// A running history: processes (history.cpp), clients and operators (people.cpp), and faults
// (faults.cpp).
class History {
public:
    History(Choices& choices, const HistoryOptions& options)
        : choices_{choices}, options_{options} {
        prepare();
    }
    Ended run() {
        while (ended_.steps < options_.steps_max && !rests() && !checks_.violation()) step();
        faults_ = false;
        tell("faults end");
        release_all();
        for (auto& process : processes_)
            if (process->alive()) process->frozen_until = {};
        // A back-off may lie in the future by as much as the clock went back, up to the longest
        // one; and it may have grown to that while faults lasted.
        // A bank is asked again and again until its answer is final (seed 300002512).
        const bool long_waits = had_.clock_steps || had_.jumps || had_.days || bank_.refuses_late;
        const int limit = ended_.steps + options_.settling_steps_max * (long_waits ? 10 : 1);
        while (!checks_.violation() && !settled()) {
            step();
            if (ended_.steps > limit)
                checks_.violated("I10", "not settled: " + checks_.what_is_open());
        }
        if (!checks_.violation()) checks_.end(had_);
        end_processes();
        ended_.violation = checks_.violation();
        ended_.end_state = checks_.state();
        for (const auto* receiver : receivers_)
            ended_.effects += static_cast<int>(receiver->effects.size());
        for (const auto& [id, row] : checks_.rows()) ended_.expired += row.gone ? 1 : 0;
        return std::move(ended_);
    }

private:
    void prepare();
    void draw_faults();
    core::QueueLimits draw_mail_limits(bool may_have_some);
    void add_clients();
    void start(std::size_t process);
    void step();
    void happen(std::size_t process, const Process::Event& event);
    bool fault();
    bool process_fault();
    bool time_fault();
    bool restore_fault();
    void restore();
    void pass_time();
    void send(std::size_t client);
    void answered(std::size_t client, int attempt, const engine::Answer& answer, bool free);
    void decide_for_a_person();
    const Checks::Row* asked_about();
    std::vector<Receiver*> books_of(const Checks::Row& row) {
        if (row.operation == Ships::name) return {&carrier_};
        return {&bank_, &second_bank_, &third_bank_};
    }
    // No request is on its way, anywhere.
    bool quiet() const {
        return std::ranges::all_of(receivers_, [](const auto* each) { return each->quiet(); });
    }
    // The owner of a key; for a job's key from its arguments.
    static std::string subject_of(const Checks::Row& row) {
        return row.operation == Ships::name ? who_in(row.params) : row.who;
    }
    Banks banks() { return {&bank_, &second_bank_, &third_bank_}; }
    void hold_or_release();
    void release_all();
    void operate(queue::DeadLetters& letters);
    void steer(queue::EmbeddedJobs& jobs);
    void end_processes();
    bool clients_rest() const {
        return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) { return c.rests; });
    }
    bool rests();
    bool settled();
    std::uint64_t state() const;
    Does bank_does();
    Does other_does();
    milliseconds call_takes();
    void on_the_way(bool there);
    Receiver::Asks asks(Does (History::*does)());
    void tell(const std::string& what) {
        if (!options_.tells) return;
        const auto ms = (clock_.steady() - Steady{1h}) / 1ms;
        ended_.told.push_back(std::to_string(ms) + " ms  " + what);
    }
    static std::string server(std::size_t which) { return "server " + std::to_string(which); }

    Choices& choices_;
    const HistoryOptions& options_;
    Ended ended_;
    SimClock& clock_{home().clock};
    SimRandom random_{42};
    memory::MemoryStore& database_{home().database};
    Broker broker_;
    Beliefs beliefs_;
    Receiver bank_{clock_, asks(&History::bank_does)};
    Receiver second_bank_{clock_, asks(&History::bank_does), Receiver::Refusals::forgotten, 150min};
    Receiver third_bank_{clock_, asks(&History::bank_does)};
    Receiver mail_{clock_, asks(&History::other_does)};
    Receiver carrier_{clock_, asks(&History::other_does)};
    const std::array<Receiver*, 5> receivers_{
        &bank_, &carrier_, &mail_, &second_bank_, &third_bank_};
    HeldLocks locks_;
    Checks checks_{
        {database_, clock_, broker_, banks(), mail_, carrier_, locks_, server_times, lease}};
    std::optional<Shared> shared_;
    std::vector<std::unique_ptr<Process>> processes_;
    std::vector<Steady> starts_at_;  // For dead ones.
    std::vector<int> numbers_;       // A new number for each start.
    int started_{0};
    std::vector<Client> clients_;
    bool faults_{true};
    bool dying_{false};  // Callers are dead from now on.
    Had had_;
    // Key and attempt of a person's decisions.
    std::set<std::pair<std::int64_t, std::int64_t>> decided_;

    // The possible next events; a member, to reuse its memory.
    struct Possible {
        enum class What { event, start, client, landing, person } what{};
        std::size_t who{};
        Process::Event event{};
    };
    std::vector<Possible> possible_;
    std::vector<Process::Event> events_;

    // Swarm testing (Groce et al., ISSTA 2012): which features this history has at all.
    bool keeps_books_{false}, beats_{false};
    bool dies_{false}, freezes_{false}, commits_fail_{false}, replies_fail_{false}, jumps_{false},
        steps_clock_{false}, days_pass_{false}, calls_are_slow_{false}, jobs_fail_{false},
        holds_{false}, restores_{false};
    std::optional<TimePoint> backed_up_{};
};

}  // namespace pawl::simulation
