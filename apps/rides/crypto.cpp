#include "apps/rides/crypto.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <span>
#include <stdexcept>
#include <vector>

namespace rides {

namespace {

using Digest = std::array<unsigned char, 32>;

std::string hex(std::span<const unsigned char> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto byte : bytes) text.append({digits[byte >> 4U], digits[byte & 15U]});
    return text;
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

void must_work(bool worked) {
    if (!worked) throw std::runtime_error{"OpenSSL failed"};
}

}  // namespace

std::string sha256(std::string_view text) {
    Digest digest{};
    must_work(
        EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1
    );
    return hex(digest);
}

std::string hmac_sha256(std::string_view secret, std::string_view text) {
    Digest digest{};
    const auto size = static_cast<int>(secret.size());
    const auto* made = HMAC(
        EVP_sha256(), secret.data(), size, bytes_of(text), text.size(), digest.data(), nullptr
    );
    must_work(made != nullptr);
    return hex(digest);
}

std::string random_hex(std::size_t digits) {
    std::vector<unsigned char> bytes(digits / 2);
    must_work(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
    return hex(bytes);
}

}  // namespace rides
