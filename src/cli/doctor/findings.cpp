#include "src/cli/doctor/findings.hpp"

#include "src/cli/output.hpp"

#include <algorithm>
#include <array>

namespace pawl::cli {

namespace {

constexpr std::array<std::string_view, 4> words{"ok", "note", "warning", "error"};

std::string_view word_of(Severity severity) {
    return words[static_cast<std::size_t>(severity)];
}

std::string page_of(std::string_view code) {
    return "docs/errors/" + std::string{code} + ".md";
}

boost::json::object object_of_entry(const Findings::Entry& entry) {
    const auto& [check, severity, finding] = entry;
    boost::json::object object{
        {"check", check}, {"severity", word_of(severity)}, {"found", finding.found}};
    object["to_do"] = finding.to_do;
    object["code"] = finding.code;
    object["page"] = finding.code.empty() ? std::string{} : page_of(finding.code);
    boost::json::array ids;
    for (const auto id : finding.ids) ids.emplace_back(id);
    object["ids"] = std::move(ids);
    return object;
}

std::string text_of_entry(const Findings::Entry& entry) {
    const auto& finding = entry.finding;
    std::string text{word_of(entry.severity)};
    text.resize(9, ' ');
    text += entry.check;
    text.resize(std::max<std::size_t>(text.size() + 1, 23), ' ');
    text += finding.found;
    const std::string indent = "\n" + std::string(23, ' ');
    if (!finding.ids.empty()) {
        text += indent + "ids:";
        for (const auto id : finding.ids) text += ' ' + std::to_string(id);
    }
    if (!finding.to_do.empty()) text += indent + finding.to_do;
    if (!finding.code.empty()) text += indent + page_of(finding.code);
    return text + '\n';
}

}  // namespace

Severity Findings::worst() const {
    auto worst = Severity::ok;
    for (const auto& entry : entries_) worst = std::max(worst, entry.severity);
    return worst;
}

int Findings::exit_code() const {
    switch (worst()) {
        case Severity::error:
            return 3;
        case Severity::warning:
            return 1;
        case Severity::note:
        case Severity::ok:
            break;
    }
    return 0;
}

void Findings::print(std::ostream& out, bool json, bool verbose) const {
    boost::json::array array;
    std::array<int, 4> counts{};
    for (const auto& entry : entries_) {
        ++counts[static_cast<std::size_t>(entry.severity)];
        if (entry.severity == Severity::ok && !verbose) continue;
        if (json)
            array.push_back(object_of_entry(entry));
        else
            out << text_of_entry(entry);
    }
    if (json)
        return print_json(
            out, boost::json::object{{"worst", word_of(worst())}, {"findings", array}}
        );
    out << counts[3] << " errors, " << counts[2] << " warnings, " << counts[1] << " notes, "
        << counts[0] << " in order\n";
}

}  // namespace pawl::cli
