#include "src/cli/servers.hpp"

#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

#include <cstdint>
#include <string>

namespace pawl::cli {

namespace {

struct ServerLine {
    std::int64_t id{};
    std::string host;
    std::string version;
    std::string since;
    std::string seen_at;  // Its last beat.
    std::int64_t keys{};
    std::int64_t jobs{};
    std::int64_t staged_jobs{};  // That it is sending to the external queue.
};

}  // namespace

void list_servers(Service& service, bool json, std::ostream& out) {
    print_rows(out, read<ServerLine>(service, sql::list_servers), json, "There are no servers.");
}

}  // namespace pawl::cli
