#include <pawl/outcome.hpp>

#include <stdexcept>
#include <string>

namespace pawl::detail {

std::optional<NoResult> outcome_without_body(const ClientResult& end) {
    if (const auto* gave_up = std::get_if<GaveUp>(&end)) {
        if (gave_up->in_doubt) return InDoubt{gave_up->why};
        return Retry{gave_up->why};
    }
    const auto& answered = std::get<Answered>(end);
    if (answered.status < 500) return std::nullopt;
    const auto status = std::to_string(answered.status);
    if (answered.replayed) return Stuck{"the provider repeats a stored error, status " + status};
    return InDoubt{"the provider said " + status};
}

NoResult outcome_by_status(const Answered& answered) {
    auto said = "the provider said " + std::to_string(answered.status);
    const bool refused = answered.status == 401 || answered.status == 403 || answered.status == 429;
    // An earlier try, of a client that repeats by itself, may have been carried out.
    if (refused && !answered.in_doubt) return Retry{std::move(said)};
    return InDoubt{std::move(said)};
}

}  // namespace pawl::detail

namespace pawl {

JobResult job_result(const ClientResult& end) {
    if (const auto* gave_up = std::get_if<GaveUp>(&end))
        throw std::runtime_error{"no answer: " + gave_up->why};
    const auto& answered = std::get<Answered>(end);
    if (answered.status >= 200 && answered.status < 300) return done;
    const auto said = "the receiver answered " + std::to_string(answered.status);
    if (answered.replayed) return discard(said + ", and has stored it under the job's key");
    throw std::runtime_error{said};
}

}  // namespace pawl
