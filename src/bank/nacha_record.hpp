#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Records of NACHA: fixed fields, texts to the left and filled with blanks, numbers to the right
// and filled with zeros.
namespace pawl::bank {

inline constexpr std::size_t record_size = 94;
inline constexpr std::size_t records_a_block = 10;

class RecordWriter {
public:
    RecordWriter& text(std::string_view value, std::size_t width);
    RecordWriter& number(std::int64_t value, std::size_t width);
    std::string line() const;  // With its \n; ends the process unless all 94 characters are there.

private:
    std::string record_;
};

// The characters from position `first` to `last`, counted from 1 as in the standard.
std::string_view field(std::string_view record, std::size_t first, std::size_t last);
// The same without blanks around it.
std::string trimmed(std::string_view record, std::size_t first, std::size_t last);
// nullopt: not digits alone.
std::optional<std::int64_t> number_at(std::string_view record, std::size_t first, std::size_t last);

// What control records sum up.
struct NachaTotals {
    std::int64_t entries{};      // With their addenda records.
    std::int64_t routing_sum{};  // Of the first eight digits of the entries' routing numbers.
    std::int64_t debits{};
    std::int64_t credits{};

    std::int64_t hash() const { return routing_sum % 10'000'000'000; }  // Its last ten digits.
    void add(const NachaTotals& other);
};

// A to Z are 1 to 26, 0 to 9 are 27 to 36; 0: not a modifier.
std::int64_t number_of_modifier(char modifier);

}  // namespace pawl::bank
