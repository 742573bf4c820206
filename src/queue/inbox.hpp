#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "store/statements.hpp"

#include <string>
#include <vector>

namespace pawl::queue {

// Whether a job was done in a transaction of this database. `id` is the inbox's id of the job.
inline bool is_in_inbox(detail::Session& session, const std::string& id) {
    bool found = false;
    detail::run_statement(
        session,
        sql::find_jobs_done,
        [&](const detail::Row&) { found = true; },
        detail::encode(std::vector{id})
    );
    return found;
}

}  // namespace pawl::queue
