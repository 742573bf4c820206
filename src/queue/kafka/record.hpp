#pragma once

#include <pawl/detail/session.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A record of a Kafka topic as a value, and the encodings of its headers.
namespace pawl::queue::kafka {

struct Partition {
    std::string topic;
    int number{};
    // NOLINTNEXTLINE(modernize-use-nullptr): clang 14 takes what is compared with 0 for a pointer.
    auto operator<=>(const Partition&) const = default;
};

struct Header {
    std::string name;
    std::optional<std::string> value{};  // Bytes; nullopt: null.
    bool operator==(const Header&) const = default;
};
using Headers = std::vector<Header>;

struct Record {
    Partition partition;
    std::int64_t offset{};
    TimePoint at{};  // The record's timestamp.
    std::optional<std::string> key;
    std::optional<std::string> value;  // nullopt: a tombstone.
    Headers headers;
};

// About what a broker counts: key, value and headers.
std::size_t size_of(const Record& record);

// The last header of that name counts. nullopt: no such header, or null.
std::optional<std::string_view> find(const Headers& headers, std::string_view name);
// Replaces all headers of that name.
void set(Headers& headers, std::string_view name, std::string value);
void remove(Headers& headers, std::string_view name);

// Big-endian, as Java's ByteBuffer writes int and long.
std::string int32_bytes(std::int32_t value);
std::string int64_bytes(std::int64_t value);
// As Java's BigInteger.toByteArray: the fewest bytes that hold the number and its sign.
std::string big_integer_bytes(std::int64_t value);
// Reads any of these three: 1 to 8 bytes, two's complement. nullopt: another length.
std::optional<std::int64_t> integer_of(std::string_view bytes);
// Reads decimal digits, as our own headers have them.
std::optional<std::int64_t> number_of(std::string_view digits);

}  // namespace pawl::queue::kafka
