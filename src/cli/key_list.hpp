#pragma once

#include <pawl/service.hpp>

#include "src/ops/key_search.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace CLI {
class App;
}

namespace pawl::cli {

// The options of `keys list` and `keys search`.
struct KeyFilter {
    ops::KeySearch wanted;
    std::string request_id;
    std::string reference;  // NAME=ID
    std::string since;
    std::string until;
    std::optional<std::int64_t> below;  // Older than this key: the next page.
    bool stuck{false};                  // Of `keys list`: list_stuck_keys (stuck.hpp) instead.
};

void add_key_filter(CLI::App& command, KeyFilter& filter);
// Excludes the options that the command has by then, besides --limit and --json.
void add_stuck(CLI::App& command, KeyFilter& filter);
// Throws UsageError, CommandFailed (output.hpp) and StoreError.
void list_keys(Service& service, const KeyFilter& filter, bool json, std::ostream& out);

}  // namespace pawl::cli
