#pragma once

#include "src/base/clock.hpp"
#include "src/queue/pusher.hpp"
#include "src/queue/queue.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pawl::simulation {

// A queue outside the database, such as Redis: it outlives the servers, does not know their
// transactions, and recognizes a job that is pushed again until it is told to forget it.
struct Broker {
    struct Job {
        queue::StagedJob job;
        enum class State { ready, leased, dead } state{};
        TimePoint run_at{};
        TimePoint lease_until{};
        std::int64_t claim{};
        int deaths{0};  // Leases that ended.
        std::optional<int> deaths_before_alone{};
    };
    std::map<std::int64_t, Job> jobs;
    std::set<std::string> pushed;        // Ids of jobs that may be pushed again.
    std::map<std::string, int> entries;  // How often a job was added as new, by its id.
    // An enqueuer that stops during a push for longer than its claim may push jobs again that
    // others have sent and the broker has forgotten: this case is not promised.
    bool has_twice() const {
        return std::any_of(entries.begin(), entries.end(), [](const auto& e) {
            return e.second > 1;
        });
    }
    std::int64_t ids{0};
    std::int64_t claims{0};
};

// One server's connection to it.
class OutsideQueue final : public queue::Queue, public queue::Pusher {
public:
    // Faults on the connection; both functions may throw StoreError: `before` when the broker has
    // not acted yet, `behind` when it has.
    struct Way {
        std::function<void()> there{[] {}};
        std::function<void()> back{[] {}};
    };
    OutsideQueue(Broker& broker, base::Clock& clock, std::string name, Way way)
        : broker_{broker}, clock_{clock}, name_{std::move(name)}, way_{std::move(way)} {}

    queue::PushReport push(std::span<const queue::StagedJob> jobs) override;
    void forget(std::span<const std::string> jids) override;

    using Queue::claim;
    std::vector<queue::ClaimedJob> claim(
        int limit, std::chrono::milliseconds lease, const queue::ClaimFilter& filter
    ) override;
    bool renew(const queue::ClaimedJob& job, std::chrono::milliseconds lease) override;
    queue::FinishResult finish_in_transaction(
        detail::Session& session, const queue::ClaimedJob& job
    ) override;
    bool done_before(detail::Session& session, const queue::ClaimedJob& job) override;
    void finished(const queue::ClaimedJob& job) override { finish(job); }
    bool finish(const queue::ClaimedJob& job) override;
    bool reschedule(
        const queue::ClaimedJob& job,
        std::chrono::milliseconds wait,
        const std::optional<std::string>& error
    ) override;
    bool dead_letter(const queue::ClaimedJob& job, const std::string& error) override;
    bool mark_called(queue::ClaimedJob& job) override;
    bool begin_alone(queue::ClaimedJob& job) override;
    int rescue(std::chrono::milliseconds lease) override;
    std::optional<TimePoint> next_due() override;

private:
    // Runs `f` at the broker, unless the job belongs to another claim by now.
    template <class F>
    bool of_held(const queue::ClaimedJob& job, F f);
    static void fail(queue::StagedJob& job, const std::string& error, TimePoint now);

    Broker& broker_;
    base::Clock& clock_;
    std::string name_;
    Way way_;
};

}  // namespace pawl::simulation
