#pragma once

#include "apps/payouts/payouts.hpp"
#include "apps/payouts/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace payouts {

// What distinguishes one file from the others.
struct FileFacts {
    std::int64_t number{};
    std::int64_t number_of_day{};  // From 1: among the files of its day.
    pawl::TimePoint created_at{};
};

// The format of the bank, with who pays, as the settings say. Pure functions.
class BankFormat {
public:
    explicit BankFormat(const Settings& settings) : settings_{settings} {}

    // Throws std::invalid_argument for a payment that problem() refuses, or too many payments.
    std::string write(const FileFacts& facts, std::span<const Payment> payments) const;
    // Why no file can have this payment; nullopt: one can.
    std::optional<std::string> problem(const Payment& payment) const;
    // With the texts that the bank gets. Throws std::invalid_argument if one is not UTF-8.
    Payment as_sent(Payment payment) const;
    // Why no file can have these settings; nullopt: one can.
    std::optional<std::string> settings_problem() const;
    pawl::bank::ReadReport read(std::string_view bytes) const;

    // Both are made from the number alone, so they are as unique.
    std::string file_name(std::int64_t number) const;
    std::string currency() const;
    const Settings& settings() const { return settings_; }
    std::int64_t files_a_day_max() const;
    std::int64_t payouts_max() const { return settings_.payouts_max.value_or(5'000); }

private:
    Settings settings_;
};

}  // namespace payouts
