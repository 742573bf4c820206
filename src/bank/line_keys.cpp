#include "src/bank/line_keys.hpp"

namespace pawl::bank {

std::string LineKeys::key(std::string_view reference, std::string_view content) {
    if (!reference.empty()) return "ref:" + std::string{reference};
    const auto hash = sha256(content);
    return "hash:" + hash + ":" + std::to_string(++equal_[hash]);
}

}  // namespace pawl::bank
