#include "src/cli/providers.hpp"

#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

namespace pawl::cli {

std::vector<Line<ProviderLine>> read_providers(Service& service) {
    return read<ProviderLine>(service, sql::list_providers);
}

void list_providers(Service& service, bool json, std::ostream& out) {
    print_rows(
        out,
        read_providers(service),
        json,
        "No call waits for a provider, and no server keeps one from new payments."
    );
}

}  // namespace pawl::cli
