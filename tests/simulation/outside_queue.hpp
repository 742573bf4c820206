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

// A queue outside the database, as Redis is: what it holds outlives the servers, it knows nothing
// of their transactions, and it knows a job that is pushed again until it is told to forget it.
struct Broker {
    struct Job {
        queue::StagedJob job;
        enum class State { ready, leased, dead } state{};
        TimePoint run_at{};
        TimePoint lease_until{};
        std::int64_t claim{};
    };
    std::map<std::int64_t, Job> jobs;
    std::set<std::string> pushed;        // Job ids that may be pushed again.
    std::map<std::string, int> entries;  // How often a job id came as a new one.
    // An enqueuer that stops in the middle of a push for longer than its claim pushes again what
    // others have sent, and the broker been told to forget: nobody promises otherwise.
    bool has_twice() const {
        return std::any_of(entries.begin(), entries.end(), [](const auto& e) {
            return e.second > 1;
        });
    }
    std::int64_t ids{0};
    std::int64_t claims{0};
};

// One server's way to it.
class OutsideQueue final : public queue::Queue, public queue::Pusher {
public:
    // What happens on the way: both may throw StoreError, before it the broker has done nothing,
    // behind it has.
    struct Way {
        std::function<void()> there{[] {}};
        std::function<void()> back{[] {}};
    };
    OutsideQueue(Broker& broker, base::Clock& clock, std::string name, Way way)
        : broker_{broker}, clock_{clock}, name_{std::move(name)}, way_{std::move(way)} {}

    queue::PushReport push(std::span<const queue::StagedJob> jobs) override;
    void forget(std::span<const std::string> jids) override;

    std::vector<queue::TakenJob> take(int limit, std::chrono::milliseconds lease) override;
    bool renew(const queue::TakenJob& job, std::chrono::milliseconds lease) override;
    queue::Marked finish_in(detail::Session& session, const queue::TakenJob& job) override;
    bool done_before(detail::Session& session, const queue::TakenJob& job) override;
    void finished(const queue::TakenJob& job) override { finish(job); }
    bool finish(const queue::TakenJob& job) override;
    bool put_back(
        const queue::TakenJob& job, TimePoint run_at, const std::optional<std::string>& error
    ) override;
    bool bury(const queue::TakenJob& job, const std::string& error) override;
    bool mark_called(queue::TakenJob& job) override;
    int rescue(std::chrono::milliseconds lease) override;
    std::optional<TimePoint> next_due() override;

private:
    // Runs `f` at the broker; nothing if the job is not this claim's any more.
    template <class F>
    bool of_held(const queue::TakenJob& job, F f);
    static void fail(queue::StagedJob& job, const std::string& error, TimePoint now);

    Broker& broker_;
    base::Clock& clock_;
    std::string name_;
    Way way_;
};

}  // namespace pawl::simulation
