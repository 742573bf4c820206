#pragma once

#include "src/ops/job_requests.hpp"

#include <cstdint>
#include <optional>
#include <string>

// The columns of a job, dead or not, that name its request.
namespace pawl::cli {

inline std::optional<std::int64_t> request_id(const std::optional<queue::JobRequest>& request) {
    return request ? std::optional{request->id} : std::nullopt;
}

inline std::optional<std::string> request_state(const std::optional<queue::JobRequest>& request) {
    return request ? std::optional{request->state} : std::nullopt;
}

}  // namespace pawl::cli
