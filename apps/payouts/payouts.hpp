#pragma once

#include <pawl/bank_file.hpp>
#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Types that the operations and jobs of Payouts share.
namespace payouts {

struct PayoutId {
    std::int64_t value{};
};

// A payout as a bank file needs it: a row of list_file_payouts.
struct Payment {
    std::string end_to_end_id;
    std::int64_t amount{};  // Minor units.
    std::string currency;
    std::string creditor_name;
    std::string creditor_account;
    std::optional<std::string> routing_number;
    std::string reference;
};

// The body of an operation's own error: application/problem+json, like the server's errors.
pawl::Response problem(int status, std::string title, std::string detail);

std::vector<std::byte> bytes_of(std::string_view text);
std::string text_of(const std::vector<std::byte>& bytes);

// 2026-11-30, in UTC.
std::string date_of(pawl::TimePoint at);

}  // namespace payouts
