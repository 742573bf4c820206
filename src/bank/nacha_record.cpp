#include "src/bank/nacha_record.hpp"

#include "src/core/assert.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::bank {

RecordWriter& RecordWriter::text(std::string_view value, std::size_t width) {
    PAWL_ASSERT(value.size() <= width);
    record_.append(value).append(width - value.size(), ' ');
    return *this;
}

RecordWriter& RecordWriter::number(std::int64_t value, std::size_t width) {
    const auto digits = std::to_string(value);
    PAWL_ASSERT(value >= 0);
    PAWL_ASSERT(digits.size() <= width);
    record_.append(width - digits.size(), '0').append(digits);
    return *this;
}

std::string RecordWriter::line() const {
    PAWL_ASSERT(record_.size() == record_size);
    return record_ + "\n";
}

std::string_view field(std::string_view record, std::size_t first, std::size_t last) {
    return record.substr(first - 1, last - first + 1);
}

std::string trimmed(std::string_view record, std::size_t first, std::size_t last) {
    auto text = field(record, first, last);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return std::string{text.substr(0, text.find_last_not_of(' ') + 1)};
}

std::optional<std::int64_t> number_at(
    std::string_view record, std::size_t first, std::size_t last
) {
    const auto text = field(record, first, last);
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || text.front() == '-')
        return std::nullopt;
    return value;
}

void NachaTotals::add(const NachaTotals& other) {
    entries += other.entries;
    routing_sum += other.routing_sum;
    debits += other.debits;
    credits += other.credits;
}

std::int64_t number_of_modifier(char modifier) {
    if (modifier >= 'A' && modifier <= 'Z') return modifier - 'A' + 1;
    if (modifier >= '0' && modifier <= '9') return modifier - '0' + 27;
    return 0;
}

}  // namespace pawl::bank
