#include "src/ops/record_settlement.hpp"

#include <pawl/detail/rows.hpp>

#include "store/statements.hpp"

namespace pawl::ops {

bool record_settlement(store::Session& session, const DecidedSettlement& decided, TimePoint now) {
    const auto changed = detail::execute_statement(
        session,
        sql::request_settlement,
        decided.key_id,
        decided.attempt,
        decided.settlement,
        decided.result,
        decided.value,
        decided.by,
        decided.note,
        now
    );
    if (changed == 0) return false;
    detail::execute_statement(
        session,
        sql::insert_audit,
        now,
        decided.by,
        "settle " + std::string{decided.settlement},
        decided.key_id,
        decided.audit_detail
    );
    return true;
}

}  // namespace pawl::ops
