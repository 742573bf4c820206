#include "src/cli/audit.hpp"

#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

#include <string>

namespace pawl::cli {

namespace {

struct AuditLine {
    std::int64_t id{};
    std::string at;
    std::string actor;
    std::string action;
    std::optional<std::int64_t> key_id;
    std::string detail;
};

}  // namespace

void list_audit(Service& service, const AuditFilter& filter, bool json, std::ostream& out) {
    const auto found = read<AuditLine>(service, sql::list_audit, filter.below, filter.limit);
    print_rows(out, found, json, "Nobody has changed anything.");
    if (!json && std::ssize(found) == filter.limit)
        out << "There may be more: --below " << found.back().row.id << '\n';
}

}  // namespace pawl::cli
