#include "src/bank/report_check.hpp"

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"

#include <algorithm>

namespace pawl::bank {

namespace {

constexpr std::size_t text_max = 200;   // Bytes. The longest that the standards allow is 140.
constexpr std::size_t key_max = 500;    // A line's key has two references and an id.
constexpr std::size_t found_max = 500;  // Bytes.

bool is_storable(std::string_view text, std::size_t bytes_max) {
    return text.size() <= bytes_max && has_only(CharacterSet::xml, text);
}

bool is_storable(const ReportNumber& number) {
    return is_storable(number.series, text_max);
}

bool is_storable(const ReportLine& line) {
    return is_storable(line.key, key_max) && is_storable(line.end_to_end_id, text_max) &&
           is_storable(line.currency, text_max) && is_storable(line.reason, text_max) &&
           is_storable(line.account, text_max);
}

std::string printable(std::string_view text) {
    auto clean = base::sanitized_error(text);
    clean.resize(base::cut(clean, found_max).size());
    std::ranges::replace_if(
        clean, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' '
    );
    return clean;
}

ReportProblem checked(ReportProblem problem) {
    problem.found = printable(problem.found);
    std::erase_if(problem.numbers, [](const ReportNumber& one) { return !is_storable(one); });
    return problem;
}

constexpr auto value_rule = "values of at most 200 bytes without control characters";

}  // namespace

ReadReport checked(ReadReport read) {
    if (auto* problem = std::get_if<ReportProblem>(&read)) return checked(std::move(*problem));
    auto& report = std::get<Report>(read);
    const bool head =
        is_storable(report.sender, text_max) && is_storable(report.message_id, text_max) &&
        std::ranges::all_of(report.numbers, [](const auto& one) { return is_storable(one); }) &&
        std::ranges::all_of(report.unnumbered, [](const auto& one) {
            return is_storable(one, text_max);
        });
    if (!head) return ReportProblem{value_rule, "one of its sender, message id and series", {}};
    std::size_t place = 0;
    std::erase_if(report.lines, [&](const ReportLine& line) {
        ++place;
        if (is_storable(line)) return false;
        report.set_aside.push_back(
            {value_rule, "one of payment " + std::to_string(place) + " of the file"}
        );
        return true;
    });
    for (auto& item : report.set_aside) {
        item.found = printable(item.found);
        if (!is_storable(item.end_to_end_id, text_max)) item.end_to_end_id.clear();
    }
    return read;
}

}  // namespace pawl::bank
