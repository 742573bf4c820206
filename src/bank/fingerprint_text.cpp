#include "src/bank/fingerprint_text.hpp"

#include <cstdint>

namespace pawl::bank {

namespace {

constexpr std::string_view prefix = "SHA256:";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string fingerprint_text(std::string_view hash) {
    std::string text{prefix};
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : hash) {
        bits = (bits << 8U) | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) text += alphabet[(bits >> (count - 6)) & 63U];
    }
    if (count > 0) text += alphabet[(bits << (6 - count)) & 63U];
    return text;
}

bool is_fingerprint(std::string_view text) {
    constexpr std::size_t digits = 43;  // Of 32 bytes.
    return text.starts_with(prefix) && text.size() == prefix.size() + digits &&
           text.substr(prefix.size()).find_first_not_of(alphabet) == text.npos;
}

}  // namespace pawl::bank
