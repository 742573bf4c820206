#pragma once

#include "apps/payouts/bank_format.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace payouts {

struct SentPayout {
    std::string end_to_end_id;
    std::int64_t amount{};  // Minor units.
};
struct SentFile {
    std::int64_t number{};
    std::string name;
    std::string bytes;
    std::int64_t amount{};  // The sum.
    std::vector<SentPayout> payouts;
};

// A file that BankFormat::write() made once, read back. `name` may have folders. Throws
// std::invalid_argument if it is none, or not whole: its payouts differ from its control sums.
SentFile read_sent_file(const BankFormat& format, const std::string& name, std::string bytes);

}  // namespace payouts
