#pragma once

#include <pawl/detail/session.hpp>

#include "src/queue/dead_letters.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Ids of the embedded queue as texts, as numbers, and as the JSON list that its statements take.
namespace pawl::queue {

// nullopt: a text that is no number matches no job.
std::optional<std::int64_t> job_number(const std::string& id);
std::vector<std::int64_t> job_numbers(std::span<const std::string> ids);  // Without such texts.
std::string json_list(const std::vector<std::int64_t>& numbers);

// Writes one audit entry about these jobs, with the reason and their numbers, in the session's
// transaction.
void audit_jobs(
    detail::Session& session,
    const AuditEntry& act,
    std::string_view action,
    std::vector<std::int64_t> jobs
);

}  // namespace pawl::queue
