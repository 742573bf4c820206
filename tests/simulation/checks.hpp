#pragma once

#include "src/engine/answer.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/simulation/job_places.hpp"
#include "tests/simulation/outside_queue.hpp"
#include "tests/simulation/receiver.hpp"
#include "tests/simulation/trade.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

// What a history had, as far as it excuses something.
struct Had {
    bool clock_steps{};
    bool clock_went_back{};
    bool days{};    // Longer than a receiver remembers, and than keys are kept.
    bool jumps{};   // Time passed while everybody stood still.
    bool faults{};  // Anything else that failed, or died, or stopped.
    bool calm() const { return !clock_steps && !days && !jumps && !faults; }
};

// The world that the checks look at.
struct World {
    memory::MemoryStore& database;
    SimClock& clock;
    Broker& broker;
    Receiver& bank;
    Receiver& mail;
    Receiver& carrier;
    std::chrono::milliseconds lease;
    bool works{};  // There are workers.
};

// The invariants, by their numbers in docs/reliability.md: after each transaction, at each answer,
// at each try of a job, and at the end. The first violation counts. Nothing is thrown: most are
// seen in the middle of the engine.
class Checks {
public:
    explicit Checks(const World& world);
    void expect_work() { world_.works = true; }
    void expect_operator() { operated_ = true; }

    void violated(std::string_view invariant, const std::string& what) {
        if (!violation_) violation_ = std::string{invariant} + ": " + what;
    }
    const std::optional<std::string>& violation() const { return violation_; }

    // A key's row, as it was last seen.
    struct Row {
        std::int64_t id{};
        std::string who;
        std::string operation;
        std::string params;
        std::int64_t attempt{};
        int rank{};  // Of its point: they only grow.
        std::string standing;
        std::string point;
        std::optional<TimePoint> lease_until;
        int status{};
        std::optional<TimePoint> expires_at;
        bool gone{};           // The reaper has it.
        int holder{};          // The server whose transaction began the attempt.
        Steady asked_since{};  // That it waits for a person.
    };
    // What happens from now on, this server does; each start of one is another.
    void server_at_work(int server) { server_ = server; }
    // After a transaction; where nothing has changed there is nothing to see.
    void look(const Had& had);
    const std::map<std::int64_t, Row>& rows() const { return rows_; }
    const Row* row_of(const std::string& who) const;

    bool is_answered(const std::string& who) const { return finals_.contains(who); }
    // A client's final answer, and one that is none. `free`: the server that said so has no key in
    // hand.
    void final_answer(const Asked& asked, const engine::Settled& settled, const Had& had);
    void refused(const Asked& asked, engine::Why why, bool free, const Had& had);

    // May throw what the handler shall throw, if it `fails`.
    void job_tried(const JobSeen& job, bool fails, const Had& had);
    // An operator begins to do this to these dead letters, and has done it to so many; nothing:
    // nobody knows.
    void operates(bool purges, const std::vector<queue::DeadLetter>& letters);
    void operated(std::optional<int> done);

    bool jobs_are_open();  // Any that is neither done nor dead.
    bool keys_are_open() const;
    std::string what_is_open();
    void end(const Had& had);
    std::uint64_t state() const { return state_; }  // A hash of all that was last seen.

private:
    std::int64_t number(std::string_view text);
    std::vector<std::string> texts(std::string_view text);
    void look_at_all(const Had& had);
    void look_at_pages(store::Session& session);
    void see(Row row, const Had& had);
    void missed(Row& row);
    void check_jobs_of(const std::string& who, const Had& had);

    struct Final {
        int status{};
        std::string body;
        int not_replayed{};
    };
    struct Tried {
        std::string jid;
        int attempt{};
        std::optional<Steady> failed_at;  // This attempt.
    };
    World world_;
    JobPlaces job_places_;
    std::int64_t changes_{-1};  // Of the database, when it was looked at.
    std::uint64_t state_of_rows_{0};
    std::optional<std::pair<std::int64_t, std::int64_t>>
        open_jobs_;  // At so many changes, so many.
    std::optional<std::string> violation_;
    std::map<std::int64_t, Row> rows_;
    std::map<std::string, Final> finals_;                         // By who.
    std::map<std::pair<std::string, std::string>, Tried> tried_;  // By kind and who.
    std::set<std::string> purged_;  // Kinds and arguments of jobs, or perhaps.
    std::set<std::string> merged_;  // Job ids, or perhaps.
    std::set<std::string> deaths_;  // Each letter's id and history: it may die again.
    bool operated_{false};
    int letters_done_{0};
    int acts_{0};
    int acts_in_doubt_{0};
    std::uint64_t state_{0};
    int server_{0};
};

inline std::uint64_t mixed(std::uint64_t state, std::uint64_t more) {
    return (state ^ more) * 0x9E3779B97F4A7C15U + (state >> 7U);
}

// Waits of a failed job, which its next try must keep.
inline const std::vector<std::chrono::milliseconds> retry_layers{
    std::chrono::seconds{10}, std::chrono::seconds{40}};

}  // namespace pawl::simulation
