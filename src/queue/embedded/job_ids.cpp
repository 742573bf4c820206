#include "src/queue/embedded/job_ids.hpp"

#include <pawl/detail/json.hpp>

#include "src/queue/audit.hpp"

#include <charconv>
#include <utility>

namespace pawl::queue {

namespace {

struct AuditDetail {
    std::string reason;
    std::vector<std::int64_t> jobs;
};

}  // namespace

std::optional<std::int64_t> job_number(const std::string& id) {
    std::int64_t number = 0;
    const auto* end = id.data() + id.size();
    const auto read = std::from_chars(id.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return number;
}

std::vector<std::int64_t> job_numbers(std::span<const std::string> ids) {
    std::vector<std::int64_t> numbers;
    for (const auto& id : ids)
        if (const auto number = job_number(id)) numbers.push_back(*number);
    return numbers;
}

std::string json_list(const std::vector<std::int64_t>& numbers) {
    std::string list{"["};
    for (const auto number : numbers) {
        if (list.size() > 1) list += ',';
        list += std::to_string(number);
    }
    return list + "]";
}

void audit_jobs(
    detail::Session& session,
    const AuditEntry& act,
    std::string_view action,
    std::vector<std::int64_t> jobs
) {
    audit(session, act.by, action, detail::encode(AuditDetail{act.reason, std::move(jobs)}));
}

}  // namespace pawl::queue
