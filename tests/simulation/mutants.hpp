#pragma once

#include "tests/simulation/sql_mutants.hpp"

#include <set>
#include <string>

namespace pawl::simulation {

// Every planted fault that the simulator must find; those in the program by their name in
// PAWL_MUTANT.
inline std::set<std::string> all_mutants() {
    std::set<std::string> all{
        "answer_though_not_kept",
        "any_request_is_the_same",
        "call_of_job_is_not_marked",
        "dead_and_alive",
        "done_job_may_fail",
        "doubt_is_done",
        "expired_is_new",
        "failed_job_comes_at_once",
        "failed_look_is_busy",
        "far_lease_holds",
        "horizon_is_forgotten",
        "horizon_of_jobs_is_forgotten",
        "job_ends_before_its_call",
        "job_is_marked_later",
        "key_of_each_attempt",
        "key_of_each_job_try",
        "lease_is_always_over",
        "lease_is_believed_too_long",
        "lease_of_another_is_taken",
        "lease_never_ends",
        "never_is_called_again",
        "no_completer",
        "no_fence",
        "no_new_generation",
        "no_renewal",
        "no_renewal_of_jobs",
        "operation_of_each_job_try",
        "replay_is_not_said",
        "staged_are_deleted_unsent",
        "stored_error_is_retried",
        "tenant_is_not_asked",
        "zombie_calls"};
    for (const auto& mutant : sql_mutants()) all.emplace(mutant.name);
    return all;
}

}  // namespace pawl::simulation
