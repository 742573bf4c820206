#pragma once

#include <pawl/call.hpp>
#include <pawl/database.hpp>
#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/rides/stripe.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>

// The provider's charges against our rides, day by day in UTC. Differences are rows of
// reconcile_differences: open while they are seen, closed by the first comparison without them.
namespace rides {

// Staged each night. Stages a CompareDay for each day that is to be compared: those since the last
// one, at most 31 of them, and those with open differences.
struct CompareDays {
    static constexpr std::string_view kind = "compare_days";
    pawl::TimePoint tick{};
};
class DaysWorker {
public:
    pawl::JobResult work(pawl::Tx& tx, const pawl::Job<CompareDays>& job);
};

// One day. A job that is killed begins its day again; it writes the same rows.
struct CompareDay {
    static constexpr std::string_view kind = "compare_day";
    static constexpr pawl::JobSettings settings{.timeout = std::chrono::minutes{60}};
    std::string day{};  // "2026-11-21"
};
class DayWorker {
public:
    DayWorker(pawl::Database& database, Stripe& stripe) : database_{&database}, stripe_{&stripe} {}
    pawl::JobResult work(pawl::Call& call, const pawl::Job<CompareDay>& job);

private:
    pawl::Database* database_;  // Both outlive it.
    Stripe* stripe_;
};

struct DayCompared {
    std::int64_t theirs{};
    std::int64_t ours{};
    std::int64_t differences{};
};
// Compares a day, and stores its differences. nullopt: stopped. Throws std::invalid_argument for
// what is no day, std::runtime_error for the provider, and StoreError.
std::optional<DayCompared> compare_day(
    pawl::Database& database, Stripe& stripe, const std::string& day, std::stop_token stop = {}
);

// The stored differences: a table or JSON of the open ones, or CSV of all. Returns how many are
// open.
enum class DifferenceFormat { table, json, csv };
std::int64_t print_differences(
    pawl::Database& database, DifferenceFormat format, std::ostream& out
);

}  // namespace rides
