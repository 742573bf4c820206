#pragma once

#include "apps/payouts/bank_format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace payouts {

struct SentPayout {
    std::string end_to_end_id;
    std::int64_t amount{};         // Minor units.
    std::string creditor_account;  // With NACHA: the routing number, /, and the account.
};
struct SentFile {
    std::int64_t number{};
    std::string name;
    std::string bytes;
    std::int64_t amount{};  // The sum.
    std::vector<SentPayout> payouts;
};

// A file that these settings' account has sent, read back. `name` may have folders. The writer must
// make the same bytes of what is read, so a file that is cut, changed in its form, or has another
// number than its name is none. Throws std::invalid_argument, which says why.
SentFile read_sent_file(const BankFormat& format, const std::string& name, std::string bytes);

}  // namespace payouts
