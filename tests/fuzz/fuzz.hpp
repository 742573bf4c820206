#pragma once

#include "src/core/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Shared by the fuzzers. Each is one file: LLVMFuzzerTestOneInput gets any bytes, and asserts its
// claims. libFuzzer calls it in the preset `fuzz`; elsewhere replay.cpp calls it with the inputs in
// corpus/.
namespace pawl::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    const void* plain = data;
    return {static_cast<const char*>(plain), size};
}

struct Cut {
    std::string_view before;
    std::string_view after;  // Empty if there is no mark.
};
inline Cut cut_at(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    if (at == text.npos) return {text, {}};
    return {text.substr(0, at), text.substr(at + mark.size())};
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto [line, rest] = cut_at(text, "\n");
        lines.push_back(line);
        text = rest;
    }
    return lines;
}

// Random numbers that a claim needs, derived from the input: the same bytes make the same claim.
class Dice {
public:
    explicit Dice(std::string_view input) {
        for (const char c : input)
            state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    std::size_t below(std::size_t n) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state_ >> 33U) % n;
    }

private:
    std::uint64_t state_{0xCBF29CE484222325U};  // FNV-1a.
};

}  // namespace pawl::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
