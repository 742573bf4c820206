#pragma once

#include "src/store/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::ops {

// A decision about a request in doubt, of a person or by an event of the provider.
struct DecidedSettlement {
    std::int64_t key_id{};
    int attempt{};                        // Of the entry in the attention list.
    std::string_view settlement;          // As stored: "happened", "did-not-happen", "give-up".
    std::optional<std::string> result{};  // happened: the result's name, and its value as JSON.
    std::optional<std::string> value{};
    std::string by;
    std::string note;
    std::string audit_detail;
};

// Records it with its audit entry; a server carries it out. False: it is decided already, or the
// entry is another one.
bool record_settlement(store::Session& session, const DecidedSettlement& decided, TimePoint now);

}  // namespace pawl::ops
