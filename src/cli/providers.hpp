#pragma once

#include <pawl/service.hpp>

#include "src/cli/output.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pawl::cli {

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
// Throws StoreError.
std::vector<Line<ProviderLine>> read_providers(Service& service);

// Throws StoreError.
void list_providers(Service& service, bool json, std::ostream& out);

}  // namespace pawl::cli
