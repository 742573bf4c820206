#pragma once

#include <chrono>
#include <optional>
#include <variant>

// How a job runs whose servers have died while they had it: it may be what kills them, or one of
// many healthy jobs that were in flight.
namespace pawl::core {

// After so many deaths a job runs alone in its process, so that its next death is its own.
inline constexpr int deaths_shared_max = 3;
// A process of this age is not one of a row that somebody kills. In a younger one a death would
// prove nothing, so that no job runs alone there.
inline constexpr std::chrono::seconds calm_after{10};

struct DeathFacts {
    int deaths{};  // Servers that died while they had the job.
    // The deaths before it last ran alone; nullopt: it did not, or that run has ended.
    std::optional<int> deaths_before_alone{};
    std::chrono::milliseconds server_age{};
};

struct RunShared {};
struct RunAlone {};
struct RunLater {
    std::chrono::milliseconds wait{};
};
struct NeverRun {};  // Its server died while it ran alone: it becomes a dead letter.
using DeathRule = std::variant<RunShared, RunAlone, RunLater, NeverRun>;

DeathRule decide_after_deaths(const DeathFacts& facts) noexcept;

}  // namespace pawl::core
