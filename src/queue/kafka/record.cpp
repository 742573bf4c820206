#include "src/queue/kafka/record.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::queue::kafka {

namespace {

std::string big_endian(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>((value >> (8 * i)) & 0xFFU);
    return text;
}

}  // namespace

std::size_t size_of(const Record& record) {
    constexpr std::size_t overhead = 70;  // Its own fields, and its batch's.
    constexpr std::size_t of_a_header = 10;
    std::size_t size = overhead + (record.key ? record.key->size() : 0) +
                       (record.value ? record.value->size() : 0);
    for (const auto& header : record.headers)
        size += of_a_header + header.name.size() + (header.value ? header.value->size() : 0);
    return size;
}

std::optional<std::string_view> find(const Headers& headers, std::string_view name) {
    const auto found = std::find_if(headers.rbegin(), headers.rend(), [&](const Header& header) {
        return header.name == name;
    });
    if (found == headers.rend() || !found->value) return std::nullopt;
    return std::string_view{*found->value};
}

void set(Headers& headers, std::string_view name, std::string value) {
    remove(headers, name);
    headers.push_back({std::string{name}, std::move(value)});
}

void remove(Headers& headers, std::string_view name) {
    std::erase_if(headers, [&](const Header& header) { return header.name == name; });
}

std::string int32_bytes(std::int32_t value) {
    return big_endian(static_cast<std::uint32_t>(value), 4);
}

std::string int64_bytes(std::int64_t value) {
    return big_endian(static_cast<std::uint64_t>(value), 8);
}

std::string big_integer_bytes(std::int64_t value) {
    int bytes = 1;
    // One more byte while the bits above are not just the sign.
    while (bytes < 8 && (value >> (8 * bytes - 1)) != 0 && (value >> (8 * bytes - 1)) != -1)
        ++bytes;
    return big_endian(static_cast<std::uint64_t>(value), bytes);
}

std::optional<std::int64_t> integer_of(std::string_view bytes) {
    if (bytes.empty() || bytes.size() > 8) return std::nullopt;
    const bool negative = (static_cast<unsigned char>(bytes[0]) & 0x80U) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (const char byte : bytes) value = (value << 8U) | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> number_of(std::string_view digits) {
    std::int64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return number;
}

}  // namespace pawl::queue::kafka
