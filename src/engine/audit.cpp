#include <pawl/audit.hpp>
#include <pawl/detail/rows.hpp>

#include "store/statements.hpp"

#include <cstdint>
#include <optional>

namespace pawl {

void record_audit(Tx& tx, const AuditRecord& entry) {
    detail::send_statement(
        tx.session(),
        sql::insert_audit,
        tx.now(),
        entry.by,
        entry.action,
        std::optional<std::int64_t>{},
        entry.detail
    );
}

}  // namespace pawl
