// A bank's reports: camt.054 and returns of NACHA. Every text is a report or a problem with a rule;
// a report has a sender, keys and numbers, or an account without one; its lines fit into 63 bits
// together; what is set aside has a rule; reading is repeatable.

#include <pawl/bank_file.hpp>

#include "tests/fuzz/fuzz.hpp"

#include <limits>

namespace {

using namespace pawl;

void check_lines(const bank::Report& report) {
    std::int64_t sum = 0;
    for (const auto& line : report.lines) {
        PAWL_ASSERT(line.key.starts_with("ref:") || line.key.starts_with("hash:"));
        PAWL_ASSERT(line.amount > 0);
        PAWL_ASSERT(line.amount <= std::numeric_limits<std::int64_t>::max() - sum);
        PAWL_ASSERT(!line.currency.empty());
        sum += line.amount;
    }
}

void check_read(const bank::ReadReport& read, const bank::ReadReport& again) {
    PAWL_ASSERT(read.index() == again.index());
    if (const auto* problem = std::get_if<bank::ReportProblem>(&read)) {
        PAWL_ASSERT(!problem->rule.empty());
        PAWL_ASSERT(problem->found == std::get<bank::ReportProblem>(again).found);
        return;
    }
    const auto& report = std::get<bank::Report>(read);
    PAWL_ASSERT(!report.sender.empty());
    PAWL_ASSERT(!report.message_id.empty());
    PAWL_ASSERT(!report.numbers.empty() || !report.unnumbered.empty());
    for (const auto& item : report.set_aside) PAWL_ASSERT(!item.rule.empty());
    const auto& same = std::get<bank::Report>(again);
    PAWL_ASSERT(report.lines.size() == same.lines.size());
    for (std::size_t i = 0; i < report.lines.size(); ++i)
        PAWL_ASSERT(report.lines[i].key == same.lines[i].key);
    check_lines(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::text_of(data, size);
    check_read(bank::read_camt054(bytes), bank::read_camt054(bytes));
    check_read(bank::read_nacha_returns(bytes), bank::read_nacha_returns(bytes));
    return 0;
}
