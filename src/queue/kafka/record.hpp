#pragma once

#include <pawl/detail/session.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A record of a Kafka topic as a value, and the forms of its headers.
namespace pawl::queue::kafka {

struct Partition {
    std::string topic;
    int number{};
    // NOLINTNEXTLINE(modernize-use-nullptr): clang 14 takes what is compared with 0 for a pointer.
    auto operator<=>(const Partition&) const = default;
};

struct Header {
    std::string name;
    std::optional<std::string> value{};  // Bytes; nothing is null.
    bool operator==(const Header&) const = default;
};
using Headers = std::vector<Header>;

struct Record {
    Partition partition;
    std::int64_t offset{};
    TimePoint at{};  // Its timestamp.
    std::optional<std::string> key;
    std::optional<std::string> value;  // Nothing: a tombstone.
    Headers headers;
};

// About what a broker counts: key, value and headers.
std::size_t size_of(const Record& record);

// The last of that name: it is the one that counts. Nothing if there is none or it is null.
std::optional<std::string_view> find(const Headers& headers, std::string_view name);
// Instead of all of that name.
void set(Headers& headers, std::string_view name, std::string value);
void remove(Headers& headers, std::string_view name);

// Big-endian, as Java's ByteBuffer writes int and long.
std::string int32_bytes(std::int32_t value);
std::string int64_bytes(std::int64_t value);
// As Java's BigInteger.toByteArray: the fewest bytes that hold it, with its sign.
std::string big_integer_bytes(std::int64_t value);
// Any of these three: 1 to 8 bytes, two's complement. Nothing of another length.
std::optional<std::int64_t> integer_of(std::string_view bytes);
// Of digits, as our own headers have it.
std::optional<std::int64_t> number_of(std::string_view digits);

}  // namespace pawl::queue::kafka
