#pragma once

#include <pawl/principal.hpp>

#include <cstdint>
#include <string_view>

namespace pawl::engine {

struct OnAttentionList {
    std::int64_t key_id{};
    std::string_view hash;  // Of the key, whose text is never logged.
    const Principal& principal;
    std::string_view operation;
    std::string_view point;
    std::string_view reason;
    std::string_view detail;
};

// Logs attention_added, after the commit.
void log_attention_added(const OnAttentionList& added);

// The part of a key's hash that the logs show: enough to find the key.
inline std::string_view logged_hash(std::string_view hash) {
    return hash.substr(0, 16);
}

}  // namespace pawl::engine
