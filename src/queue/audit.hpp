#pragma once

#include <pawl/detail/rows.hpp>

#include "store/statements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::queue {

// Writes one audit entry about jobs or queues (no key) in the session's transaction.
inline void audit(
    detail::Session& session, std::string_view by, std::string_view action, const std::string& text
) {
    detail::run_statement(
        session,
        sql::insert_audit,
        [](const detail::Row&) {},
        session.now(),
        by,
        action,
        std::optional<std::int64_t>{},
        text
    );
}

}  // namespace pawl::queue
