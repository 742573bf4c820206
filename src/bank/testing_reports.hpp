#pragma once

#include <pawl/bank_file.hpp>

#include <string>

namespace pawl::bank {

// What a report says, for comparisons: "paid P1 1250 EUR; aside camt.054 Ntry/Sts", or "refused
// camt.054 XML".
inline std::string effects(const ReadReport& read) {
    if (const auto* wrong = std::get_if<ReportProblem>(&read)) return "refused " + wrong->rule;
    const auto& report = std::get<Report>(read);
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "" : "; ") + one; };
    for (const auto& line : report.lines) {
        const bool paid = line.what == ReportLine::What::paid;
        auto one = (paid ? "paid " : "returned ") + line.end_to_end_id + " " +
                   std::to_string(line.amount) + " " + line.currency;
        if (!line.reason.empty()) one += " " + line.reason;
        add(line.account.empty() ? one : one + " of " + line.account);
    }
    for (const auto& item : report.set_aside) add("aside " + item.rule);
    for (const auto& account : report.unnumbered) add("no ElctrncSeqNb of " + account);
    return text;
}

// With its keys, its numbers and its message id.
inline std::string everything(const ReadReport& read) {
    auto text = effects(read);
    const auto* report = std::get_if<Report>(&read);
    if (report == nullptr) return text + ": " + std::get<ReportProblem>(read).found;
    for (const auto& line : report->lines) text += "\n" + line.key;
    for (const auto& item : report->set_aside) text += "\n" + item.found;
    for (const auto& one : report->numbers)
        text += "\n" + one.series + " " + std::to_string(one.number) + " page " +
                std::to_string(one.page) + (one.last_page ? "" : " and more") +
                (one.repeated ? " again" : "");
    return text + "\n" + report->sender + " " + report->message_id;
}

}  // namespace pawl::bank
