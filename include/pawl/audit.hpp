#pragma once

#include <pawl/tx.hpp>

#include <string_view>

namespace pawl {

// What a person did to the application's own data, in the transaction that does it: `audit list`
// and the operators' page show it. `by` is who, such as operator_name(); `detail` names the thing
// and the reason.
struct AuditRecord {
    std::string_view by{};
    std::string_view action{};  // "skip report"
    std::string_view detail{};
};
void record_audit(Tx& tx, const AuditRecord& entry);

}  // namespace pawl
