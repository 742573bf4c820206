#include "src/json/hash.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <stdexcept>

namespace pawl::json {

namespace {

struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

void check(bool good) {
    if (!good) throw std::runtime_error{"OpenSSL cannot hash with SHA-256"};
}

const unsigned char* data(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Fetching an algorithm costs more than hashing a request, so it is done once and never freed.
const EVP_MD* sha256_method() {
    static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    check(method != nullptr);
    return method;
}

EVP_MAC* hmac_method() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): OpenSSL counts its users.
    static EVP_MAC* const method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    check(method != nullptr);
    return method;
}

std::unique_ptr<EVP_MAC_CTX, Free> new_hmac() {
    std::unique_ptr<EVP_MAC_CTX, Free> context{EVP_MAC_CTX_new(hmac_method())};
    std::string digest = "SHA256";
    std::array parameters = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
        OSSL_PARAM_construct_end()};
    check(context && EVP_MAC_CTX_set_params(context.get(), parameters.data()) == 1);
    return context;
}

}  // namespace

Digest sha256(std::string_view bytes) {
    thread_local const std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
    Digest digest;
    check(
        context && EVP_DigestInit_ex2(context.get(), sha256_method(), nullptr) == 1 &&
        EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
        EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1
    );
    return digest;
}

Digest hmac_sha256(std::string_view secret, std::string_view bytes) {
    thread_local const auto context = new_hmac();
    Digest digest;
    std::size_t size = 0;
    // A null key would mean the previous key.
    const auto* key = secret.empty() ? data("") : data(secret);
    check(
        EVP_MAC_init(context.get(), key, secret.size(), nullptr) == 1 &&
        EVP_MAC_update(context.get(), data(bytes), bytes.size()) == 1 &&
        EVP_MAC_final(context.get(), digest.data(), &size, digest.size()) == 1 &&
        size == digest.size()
    );
    return digest;
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view digit = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (char c : bytes) {
        auto byte = static_cast<unsigned char>(c);
        out.push_back(digit[byte >> 4U]);
        out.push_back(digit[byte & 0xFU]);
    }
    return out;
}

std::string hex(const Digest& digest) {
    return hex(std::string_view{reinterpret_cast<const char*>(digest.data()), digest.size()});
}

namespace {

std::string encode_base64(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a NUL.
    const auto size = EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(text.data()), data(bytes), static_cast<int>(bytes.size())
    );
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace

std::string base64(const Digest& digest) {
    return encode_base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// OpenSSL ignores white space and bits that are too many, and counts the padding as bytes.
std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0 || text.size() > INT_MAX / 2) return std::nullopt;
    const auto padding = std::min<std::size_t>(text.size() - text.find_last_not_of('=') - 1, 2);
    std::string bytes(text.size() / 4 * 3, '\0');
    const auto size = EVP_DecodeBlock(
        reinterpret_cast<unsigned char*>(bytes.data()), data(text), static_cast<int>(text.size())
    );
    if (size < static_cast<int>(padding)) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    if (encode_base64(bytes) != text) return std::nullopt;
    return bytes;
}

bool same_bytes(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Parts& Parts::add(std::uint64_t number) & {
    for (int shift = 56; shift >= 0; shift -= 8)
        bytes_.push_back(
            static_cast<char>(static_cast<unsigned char>(number >> static_cast<unsigned>(shift)))
        );
    return *this;
}

Parts& Parts::add(std::string_view part) & {
    add(static_cast<std::uint64_t>(part.size()));
    bytes_.append(part);
    return *this;
}

std::string short_hash(const Parts& parts) {
    return hex(sha256(parts.bytes())).substr(0, 32);
}

}  // namespace pawl::json
