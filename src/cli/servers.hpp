#pragma once

#include <pawl/service.hpp>

#include "src/cli/output.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pawl::cli {

struct ServerLine {
    std::int64_t id{};
    std::string host;
    std::string version;
    std::string since;
    std::string seen_at;  // Its last beat.
    std::int64_t keys{};
    std::int64_t jobs{};
    std::int64_t staged_jobs{};  // That it is sending to the external queue.
    // Its settings of which another server of the list has other values: "lease 30000 ms; ...".
    std::string differs;
};
// Throws StoreError.
std::vector<Line<ServerLine>> read_servers(Service& service);

// Lists the running servers with what each one holds. Throws StoreError.
void list_servers(Service& service, bool json, std::ostream& out);

}  // namespace pawl::cli
