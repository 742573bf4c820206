#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pawl::bench {

struct AnswerSeen {
    int status{};
    bool replayed{};          // Idempotent-Replayed: true
    std::size_t size{};       // Of head and body: what to take from the front of the buffer.
    std::string_view body{};  // Points into the bytes that were read.
};

// The first whole HTTP answer in `bytes`, if all of it is there. Status -1: these bytes are no
// answer with a length. Knows as much of HTTP as a measured server sends: a Content-Length, no
// chunks.
std::optional<AnswerSeen> read_answer(std::string_view bytes);

}  // namespace pawl::bench
