#include "src/cli/top/screen.hpp"

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/cli/output.hpp"
#include "src/core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;
using TextLines = std::vector<std::string>;
using TextRows = std::vector<std::vector<std::string>>;

std::string age_of(std::optional<TimePoint> since, TimePoint now) {
    return since ? age_text(now - *since) : "-";
}

// Times of listed rows are texts, or "damaged".
std::string age_of(const std::optional<std::string>& since, TimePoint now) {
    if (!since) return "-";
    const auto at = base::time_from_text(*since);
    return at ? age_text(now - *at) : *since;
}

// One decimal.
std::string rate_text(double per_second) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", per_second);
    return text.data();
}

double seconds_between(const Snapshot& before, const Snapshot& now) {
    return std::chrono::duration<double>(now.at - before.at).count();
}

std::string state_of(const Snapshot::OldKey& key, TimePoint now) {
    if (key.status == "attention") return "needs a person";
    if (key.lease_until && *key.lease_until > now) return key.held ? "at work, held" : "at work";
    return key.held ? "held" : "waits";
}

std::string keys_line(const Snapshot& now) {
    auto line = "keys       " + std::to_string(now.open) + " open, " + std::to_string(now.stuck) +
                " stuck, " + std::to_string(now.held) + " held, " +
                (now.stranded ? std::to_string(*now.stranded) : "?") + " stranded";
    if (now.unrecorded > 0) line += ", " + std::to_string(now.unrecorded) + " results unrecorded";
    if (now.oldest_open) line += "; oldest " + age_of(now.oldest_open, now.at);
    return line;
}

std::string attention_line(const Snapshot& now) {
    auto line = "attention  " + std::to_string(now.in_doubt());
    std::optional<TimePoint> oldest;
    for (const auto& reason : now.attention) {
        line += (oldest ? ", " : ": ") + std::to_string(reason.count) + ' ' + reason.reason;
        oldest = oldest ? std::min(*oldest, reason.since) : reason.since;
    }
    if (oldest) line += "; oldest " + age_of(oldest, now.at);
    return line;
}

// Keys that were created between the snapshots and are not among the unsettled ones are settled.
std::string rates_line(const Snapshot& now, const Snapshot* before) {
    if (before == nullptr || !now.new_keys || now.at <= before->at) return "rates      -";
    const auto seconds = seconds_between(*before, now);
    const auto unsettled = (now.open + now.in_doubt()) - (before->open + before->in_doubt());
    const auto settled = std::max<std::int64_t>(0, *now.new_keys - unsettled);
    return "rates      " + rate_text(double(*now.new_keys) / seconds) + " new/s, " +
           rate_text(double(settled) / seconds) + " settled/s, over " + rate_text(seconds) + " s";
}

std::string retries_line(const Snapshot& now) {
    std::string line = "retries    ";
    if (now.retries.empty()) return line + "0 jobs";
    TimePoint next = now.retries.front().next;
    for (const auto& layer : now.retries) {
        line += std::to_string(layer.count) + " in layer " + std::to_string(layer.failures) + ", ";
        next = std::min(next, layer.next);
    }
    return line + (next > now.at ? "next in " + age_text(next - now.at)
                                 : "oldest due for " + age_text(now.at - next));
}

void add_table(TextLines& to, std::string_view header, const TextRows& rows) {
    to.emplace_back();
    const auto words = core::words_of(header);
    std::ostringstream table;
    print_table(table, {words.begin(), words.end()}, rows);
    std::istringstream text{table.str()};
    for (std::string line; std::getline(text, line);) to.push_back(line);
}

TextRows oldest_rows(const Snapshot& now) {
    TextRows rows;
    for (const auto& key : now.oldest)
        rows.push_back(
            {std::to_string(key.id),
             age_text(now.at - key.created_at),
             key.operation,
             key.recovery_point,
             state_of(key, now.at),
             std::to_string(key.completer_runs),
             key.error.value_or("-")}
        );
    return rows;
}

std::int64_t waiting_in(const QueueLine& queue) {
    return queue.ready + queue.retrying + queue.later + queue.staged;
}

// How fast a queue grows, or shrinks.
std::string change_of(const QueueLine& queue, const Snapshot& now, const Snapshot* before) {
    if (before == nullptr || now.at <= before->at) return "-";
    std::int64_t last = 0;
    for (const auto& each : before->queues.rows)
        if (each.queue == queue.queue && each.where == queue.where) last = waiting_in(each);
    const auto change = double(waiting_in(queue) - last) / seconds_between(*before, now);
    return (change > 0 ? "+" : "") + rate_text(change);
}

TextRows queue_rows(const Snapshot& now, const Snapshot* before) {
    TextRows rows;
    for (const auto& queue : now.queues.rows)
        rows.push_back(
            {queue.queue,
             queue.where,
             std::to_string(queue.ready),
             std::to_string(queue.running),
             std::to_string(queue.retrying + queue.later),
             std::to_string(queue.staged),
             text_of(queue.dead),
             age_of(queue.oldest, now.at),
             change_of(queue, now, before),
             queue.paused_since ? "by " + queue.paused_by.value_or("") : "-"}
        );
    return rows;
}

TextRows provider_rows(const Snapshot& now) {
    TextRows rows;
    for (const auto& [provider, damage] : now.providers)
        rows.push_back(
            {provider.provider,
             std::to_string(provider.waiting),
             std::to_string(provider.in_doubt),
             std::to_string(provider.attention),
             age_of(provider.oldest_call, now.at),
             provider.down_at > 0 ? std::to_string(provider.down_at) + " servers" : "-",
             age_of(provider.down_since, now.at),
             provider.error.value_or("-")}
        );
    return rows;
}

TextRows server_rows(const Snapshot& now) {
    TextRows rows;
    for (const auto& [server, damage] : now.servers)
        rows.push_back(
            {std::to_string(server.id),
             server.host,
             server.version,
             age_of(std::optional{server.since}, now.at),
             age_of(std::optional{server.seen_at}, now.at),
             std::to_string(server.keys),
             std::to_string(server.jobs),
             std::to_string(server.staged_jobs)}
        );
    return rows;
}

}  // namespace

std::string age_text(std::chrono::milliseconds age) {
    const auto of = [](auto count, const char* unit) { return std::to_string(count) + ' ' + unit; };
    if (age < 1s) return "0 s";
    if (age < 2min) return of(age / 1s, "s");
    if (age < 2h) return of(age / 1min, "min");
    if (age < 48h) return of(age / 1h, "h");
    return of(age / 24h, "d");
}

std::vector<std::string> lines_of(const Snapshot& now, const Snapshot* before) {
    TextLines lines{
        keys_line(now), attention_line(now), rates_line(now, before), retries_line(now)};
    if (!now.oldest.empty())
        add_table(lines, "key age operation recovery_point state failed error", oldest_rows(now));
    if (!now.queues.rows.empty())
        add_table(
            lines,
            "queue where ready running retrying staged dead oldest change/s paused",
            queue_rows(now, before)
        );
    if (!now.queues.not_asked.empty())
        lines.push_back("The external queue does not answer: " + now.queues.not_asked);
    if (!now.providers.empty())
        add_table(
            lines,
            "provider waiting in_doubt attention oldest down_at down_for error",
            provider_rows(now)
        );
    if (!now.servers.empty())
        add_table(lines, "server host version up seen keys jobs staged_jobs", server_rows(now));
    return lines;
}

std::vector<std::string> fitted(
    const std::vector<std::string>& lines, std::size_t first, const Screen& screen
) {
    TextLines shown;
    for (auto at = first; at < lines.size() && shown.size() < screen.rows; ++at)
        shown.emplace_back(base::cut(lines[at], screen.columns));
    return shown;
}

}  // namespace pawl::cli
