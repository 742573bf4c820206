#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pawl::bench {

struct AnswerSeen {
    int status{};
    bool replayed{};          // Idempotent-Replayed: true
    std::size_t size{};       // Of head and body: the number of bytes to remove from the buffer.
    std::string_view body{};  // Points into the bytes that were read.
};

// The first HTTP answer in `bytes`, if it is complete. Status -1: the bytes are not an answer with
// a length. Supports only what a measured server sends: a Content-Length, no chunks.
std::optional<AnswerSeen> read_answer(std::string_view bytes);

}  // namespace pawl::bench
