#include "src/core/key_text.hpp"

namespace pawl::core {

namespace {

constexpr std::size_t key_max = 255;

}  // namespace

std::optional<std::string> key_problem(std::string_view key) {
    if (key.empty()) return "The key is empty.";
    if (key.size() > key_max) return "The key has more than 255 characters.";
    for (const char c : key) {
        if (c == ',') return "A request has one key, not a list.";
        if (c == ';') return "A key without quotation marks has no parameters.";
        if (c == '"' || c == '\\') return "A key has no quotation marks or backslashes.";
        if (c <= ' ' || c > '~') return "A key consists of visible ASCII characters.";
    }
    return std::nullopt;
}

}  // namespace pawl::core
