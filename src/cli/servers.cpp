#include "src/cli/servers.hpp"

#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

namespace pawl::cli {

std::vector<Line<ServerLine>> read_servers(Service& service) {
    return read<ServerLine>(service, sql::list_servers);
}

void list_servers(Service& service, bool json, std::ostream& out) {
    print_rows(out, read_servers(service), json, "There are no servers.");
}

}  // namespace pawl::cli
