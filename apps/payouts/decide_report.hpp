#pragma once

#include <pawl/bank_file.hpp>
#include <pawl/tx.hpp>

#include "apps/payouts/decisions.hpp"
#include "apps/payouts/import_report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A person's decisions about reports that are stopped or could not be read, and about the items of
// imported ones that are set aside. Each is one transaction, and throws Refused. Those after the
// report go on, as its numbers leave no gap.
namespace payouts {

struct DecidedReport {
    std::int64_t report{};
    std::string decision;
    std::vector<std::string> numbers;  // That leave no gap from now on: "DE89... 7".
};

// The report, or what is set aside of it, has no effect.
DecidedReport skip_report(
    pawl::Tx& tx,
    std::int64_t id,
    const StoredReport& stored,
    std::int64_t first_number,
    const Decider& who
);
// The report with this number will never come.
DecidedReport skip_missing(
    pawl::Tx& tx, const Series& series, std::int64_t number, const Decider& who
);

// What a person has read in the report, as the command's options give it.
struct LinesByHand {
    std::vector<std::string> paid{};      // End-to-end ids.
    std::vector<std::string> returned{};  // End-to-end id=reason code.
};
struct LineByHand {
    std::string end_to_end_id;
    std::string what;  // paid, returned
    std::string reason;
};
// Throws std::invalid_argument: a text has another form, or two lines are of one payout.
std::vector<LineByHand> read_lines(const LinesByHand& by_hand);
struct LeftOut {
    std::string end_to_end_id;
    std::string what;
    std::int64_t amount{};
    std::string currency;
    std::string rule;
    std::string found;
};
struct SettledReport {
    std::int64_t report{};
    std::string decision;
    std::vector<std::string> numbers;
    std::int64_t lines{};           // That have an effect.
    std::vector<LeftOut> left_out;  // Lines of the report that break a rule.
};
// The lines have their effect as if the bank's file had been imported. `by_hand` is empty: what the
// report says itself is settled.
SettledReport settle_report(
    pawl::Tx& tx,
    std::int64_t id,
    const StoredReport& stored,
    const std::vector<LineByHand>& by_hand,
    std::int64_t first_number,
    const Decider& who
);

struct ReplacedReport {
    std::int64_t report{};
    std::string decision;
    std::int64_t replaced_by{};
    std::string name;
    std::int64_t lines{};  // Of the new report.
};
// Another file has come in another way. A server imports it like one that it has fetched.
struct Replacement {
    std::string name;
    std::string_view bytes;
    const pawl::bank::ReadReport& read;
};
ReplacedReport replace_report(
    pawl::Tx& tx, std::int64_t id, const Replacement& by, const Decider& who
);

}  // namespace payouts
