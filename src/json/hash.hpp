#pragma once

// SHA-256 and HMAC-SHA-256 by OpenSSL, and an unambiguous way to hash several parts. Internal. All
// may be called from any thread; each thread keeps its own OpenSSL contexts. They throw
// std::runtime_error if OpenSSL itself fails.
//
//   json::Parts parts;
//   parts.add("a").add("bc");
//   Digest digest = json::sha256(parts.bytes());
//   std::string text = json::hex(digest);
//
// The parts "ab" and "c" have another digest.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::json {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view secret, std::string_view bytes);

std::string hex(std::string_view bytes);  // Lower case.
std::string hex(const Digest& digest);

std::string base64(const Digest& digest);  // RFC 4648, with padding.
// nullopt: not the one base64 of any bytes, as base64() writes it.
std::optional<std::string> from_base64(std::string_view text);

// Takes the same time wherever texts of one size differ.
bool same_bytes(std::string_view a, std::string_view b);

// Each part with its length (8 bytes, big-endian), numbers in 8 bytes: only equal lists have equal
// bytes.
class Parts {
public:
    Parts& add(std::string_view part) &;
    Parts& add(std::uint64_t number) &;
    const std::string& bytes() const& { return bytes_; }
    std::string bytes() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

// The first 32 hex digits of the parts' SHA-256: enough to tell the rows of a table apart.
std::string short_hash(const Parts& parts);

}  // namespace pawl::json
