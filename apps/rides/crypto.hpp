#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// By OpenSSL; each as lower-case hex digits. They throw std::runtime_error if OpenSSL fails.
namespace rides {

std::string sha256(std::string_view text);
std::string hmac_sha256(std::string_view secret, std::string_view text);
std::string random_hex(std::size_t digits);  // For what nobody may guess. An even number.

}  // namespace rides
