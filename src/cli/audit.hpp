#pragma once

#include <pawl/service.hpp>

#include <cstdint>
#include <optional>
#include <ostream>

namespace pawl::cli {

struct AuditFilter {
    std::optional<std::int64_t> below;  // Older than this entry: the next page.
    int limit{50};
};

// What people did, newest first. Throws StoreError.
void list_audit(Service& service, const AuditFilter& filter, bool json, std::ostream& out);

}  // namespace pawl::cli
