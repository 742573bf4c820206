#pragma once

#include "src/core/queue_limits.hpp"
#include "src/core/server_watch.hpp"
#include "src/engine/answer.hpp"
#include "src/queue/dead_letters.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/simulation/job_places.hpp"
#include "tests/simulation/outside_queue.hpp"
#include "tests/simulation/process_store.hpp"
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

// Events of a history that excuse later observations.
struct Had {
    bool clock_steps{};
    bool clock_went_back{};
    bool days{};    // Longer than a receiver remembers and than keys are kept.
    bool jumps{};   // Time passed while all processes stood still.
    bool faults{};  // Another failure, death or stop.
    // A person cancelled jobs, whose handlers may still run while the dead letter is merged.
    bool cancels{};
    bool restored{};
    bool calm() const { return !clock_steps && !days && !jumps && !faults; }
};

// What the checks inspect.
struct World {
    memory::MemoryStore& database;
    SimClock& clock;
    Broker& broker;
    Banks banks;
    Receiver& mail;
    Receiver& carrier;
    const HeldLocks& locks;
    core::ServerTimes server_times;
    std::chrono::milliseconds lease;
    bool works{};  // There are workers.
};

// Checks the invariants, by their numbers in docs/reliability.md: after each transaction, at each
// answer, at each try of a job, and at the end. Keeps the first violation. It does not throw,
// because most violations are found in the middle of the engine.
class Checks {
public:
    explicit Checks(const World& world);
    void expect_work() { world_.works = true; }
    void expect_operator() { operated_ = true; }
    void expect_limits(const core::QueueLimits& limits) { limits_ = limits; }

    void violated(std::string_view invariant, const std::string& what) {
        if (!violation_) violation_ = std::string{invariant} + ": " + what;
    }
    const std::optional<std::string>& violation() const { return violation_; }

    // A key's row at the last check.
    struct Row {
        std::int64_t id{};
        std::string who;
        std::string operation;
        std::string params;
        std::int64_t attempt{};
        int rank{};  // The rank of its point: it only grows.
        std::string status;
        std::string point;
        std::optional<TimePoint> lease_until;
        bool calling{};
        std::int64_t server_id{};
        bool held{};  // By an operator.
        int response_status{};
        std::optional<TimePoint> expires_at;
        bool gone{};           // The reaper has removed it.
        int holder{};          // The server whose transaction began the attempt.
        Steady asked_since{};  // When it came to the attention list.
    };
    // A copy of the database is kept, and put in its place: later rows and answers are lost, and
    // ids are given anew.
    void backed_up() { backup_ = {rows_, servers_}; }
    void restored();
    // From now on, this server acts; each start of a server is a new one.
    void server_at_work(int server) { server_ = server; }
    // Call after a transaction; without changes it returns at once.
    void inspect(const Had& had);
    const std::map<std::int64_t, Row>& rows() const { return rows_; }
    const Row* row_of(const std::string& who) const;

    bool is_answered(const std::string& who) const { return finals_.contains(who); }
    // A client's final answer, and one that is not final. `free`: the answering server has no key
    // in flight.
    void final_answer(const Asked& asked, const engine::StoredResponse& settled, const Had& had);
    void refused(const Asked& asked, engine::Reason why, bool free, const Had& had);

    // If it `fails`, it throws what the handler must throw.
    void job_tried(const JobSeen& job, bool fails, const Had& had);
    // An operator begins to merge or purge these dead letters, and has done so to `done` of them;
    // nullopt: unknown.
    void operates(bool purges, const std::vector<queue::DeadLetter>& letters);
    void operated(std::optional<int> done);
    // An operator lets these jobs be due at once, and has cancelled or hurried `done` jobs.
    void hurries(const std::vector<queue::ListedJob>& jobs);
    void steered(std::optional<int> done);

    bool jobs_are_open();  // Whether any job is neither done nor dead.
    bool keys_are_open() const;
    bool dead_servers_are_there() const;
    std::string what_is_open();
    void end(const Had& had);
    std::uint64_t state() const { return state_; }  // A hash of all that was seen last.

private:
    std::int64_t number(std::string_view text);
    std::vector<std::string> texts(std::string_view text);
    void look_at_all(const Had& had);
    void check_pages(store::Session& session);
    void see_servers(store::Session& session);
    void see_mails(store::Session& session, const Had& had);
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
        std::optional<Steady> failed_at;  // For this attempt.
    };
    // A row of pawl_servers.
    struct Server {
        std::int64_t beats{};
        std::int64_t lock{};
        Steady beaten_at{};
    };
    void ended(store::Session& session, std::int64_t id, const Server& server);

    World world_;
    JobPlaces job_places_;
    std::int64_t changes_{-1};  // The database's count of changes at the last check.
    std::uint64_t state_of_rows_{0};
    std::optional<std::pair<std::int64_t, std::int64_t>>
        open_jobs_;  // The open jobs at that count of changes.
    std::optional<std::string> violation_;
    std::map<std::int64_t, Row> rows_;
    std::map<std::int64_t, Server> servers_;
    struct Backup {
        std::map<std::int64_t, Row> rows;
        std::map<std::int64_t, Server> servers;
    };
    Backup backup_;
    std::set<std::int64_t> ended_early_;  // Servers whose leases this transaction has ended.
    bool ended_a_living_server_{false};
    core::QueueLimits limits_;                                // Of the queue of mails.
    std::set<std::pair<std::int64_t, std::int64_t>> claims_;  // Of mails: job and number.
    std::vector<TimePoint> claimed_at_;
    std::map<std::string, Final> finals_;                         // By who.
    std::map<std::pair<std::string, std::string>, Tried> tried_;  // By kind and who.
    std::set<std::string> purged_;   // Kinds and arguments of jobs that are, or may be, purged.
    std::set<std::string> hurried_;  // Ids of jobs that are, or may be, due before their time.
    std::set<std::string> merged_;   // Ids of jobs that are, or may be, merged.
    std::set<std::string> deaths_;   // Each dead letter's id and history: a job may die again.
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

// Waits of a failed job; its next try must not come earlier.
inline const std::vector<std::chrono::milliseconds> retry_layers{
    std::chrono::seconds{10}, std::chrono::seconds{40}};

}  // namespace pawl::simulation
