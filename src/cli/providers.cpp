#include "src/cli/providers.hpp"

#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pawl::cli {

namespace {

struct ProviderLine {
    std::string provider;
    std::int64_t waiting{};   // Calls that are under way, or are tried again.
    std::int64_t in_doubt{};  // Of these: never repeated, or asked about.
    std::int64_t attention{};
    std::optional<std::string> oldest_call;
    std::int64_t down_at{};  // Servers whose breakers keep it from new payments.
    std::optional<std::string> down_since;
    std::optional<std::string> error;  // One of them.
};

}  // namespace

void list_providers(Service& service, bool json, std::ostream& out) {
    print_rows(
        out,
        read<ProviderLine>(service, sql::list_providers),
        json,
        "No call waits for a provider, and no server keeps one from new payments."
    );
}

}  // namespace pawl::cli
