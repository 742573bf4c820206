// For cron_cases.py: reads lines "CRON<TAB>ZONE<TAB>BEGIN<TAB>END" and prints, for each, a line
// with all ticks after BEGIN and before END, or "refused: MESSAGE". Times are seconds of UTC.

#include "src/core/cron.hpp"

#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <variant>

namespace {

namespace core = pawl::core;

struct Question {
    std::string cron;  // May contain tabs.
    std::string zone;
    pawl::TimePoint begin;
    pawl::TimePoint end;
};

std::string cut_last_field(std::string& line) {
    const auto tab = line.rfind('\t');
    auto field = line.substr(tab + 1);
    line.resize(tab);
    return field;
}

pawl::TimePoint time_of(const std::string& text) {
    return pawl::TimePoint{std::chrono::seconds{std::stoll(text)}};
}

Question question_of(std::string line) {
    const auto end = time_of(cut_last_field(line));
    const auto begin = time_of(cut_last_field(line));
    auto zone = cut_last_field(line);
    return {std::move(line), std::move(zone), begin, end};
}

std::string answer(const Question& question) {
    const auto cron = core::parse_cron(question.cron);
    if (const auto* problem = std::get_if<core::CronProblem>(&cron))
        return "refused: " + problem->message;
    const auto zone = core::find_time_zone(question.zone);
    if (const auto* problem = std::get_if<core::CronProblem>(&zone))
        return "refused: " + problem->message;
    std::string ticks;
    for (auto at = question.begin;;) {
        at = core::next_tick(std::get<core::Cron>(cron), std::get<core::TimeZone>(zone), at);
        if (at >= question.end) return ticks;
        const auto since = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch());
        ticks += (ticks.empty() ? "" : " ") + std::to_string(since.count());
    }
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);)
        std::cout << answer(question_of(line)) << '\n';
}
