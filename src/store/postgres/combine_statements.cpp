#include "src/store/postgres/connection.hpp"
#include "src/store/postgres/sql_text.hpp"
#include "store/postgres/session.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace pawl::postgres {

namespace {

// The key's row, and what a phase writes beside it. The order of these does not matter but for
// jobs, and their answers are not read.
enum class Part { none, key, jobs, notes };

Part part_of(const Sql& statement, Connection::Use use) {
    static constexpr std::array fences{sql::finish_key.postgres, sql::move_key.postgres};
    static constexpr std::array keys{sql::insert_key.postgres, sql::insert_key_finished.postgres};
    static constexpr std::array jobs{
        sql::insert_job.postgres,
        sql::insert_staged_job.postgres,
        sql::postgres::insert_jobs.postgres,
        sql::postgres::insert_staged_jobs.postgres,
        sql::postgres::insert_two_jobs.postgres,
        sql::postgres::insert_two_staged_jobs.postgres};
    static constexpr std::array notes{
        sql::insert_key_events.postgres,
        sql::insert_key_reference.postgres,
        sql::postgres::insert_two_key_references.postgres};
    const auto among = [&](const auto& texts) {
        return std::ranges::find(texts, statement.postgres) != texts.end();
    };
    if (use == Connection::Use::fence) return among(fences) ? Part::key : Part::none;
    if (use != Connection::Use::plain) return Part::none;
    if (among(keys)) return Part::key;
    if (among(jobs)) return Part::jobs;
    return among(notes) ? Part::notes : Part::none;
}

}  // namespace

std::vector<Connection::Queued> Connection::combine(std::vector<Queued> queued) {
    std::vector<Queued> all;
    all.reserve(queued.size());
    // The last statement's answer is awaited.
    const auto awaited = queued.empty() ? 0 : queued.size() - 1;
    for (std::size_t first = 0; first < queued.size();) {
        auto end = first;
        std::optional<std::size_t> key;
        bool jobs = false;  // PostgreSQL may run a second list of jobs before the first one.
        for (; end < std::min(first + combined_max, awaited); ++end) {
            const auto& next = queued[end];
            const auto part = part_of(next.statement, next.use);
            if (part == Part::none || next.owner != queued[first].owner) break;
            if ((part == Part::key && key) || (part == Part::jobs && jobs)) break;
            jobs = jobs || part == Part::jobs;
            if (part == Part::key) key = end;
        }
        if (!key || end - first < 2) {
            all.push_back(std::move(queued[first++]));
            continue;
        }
        const auto run = std::span{queued}.subspan(first, end - first);
        const auto& main = queued[*key];
        Queued one{
            {main.statement.name, {}, combined_text_of(run)}, main.use, main.owner, {}, true};
        for (auto& part : run) std::ranges::move(part.values, std::back_inserter(one.values));
        all.push_back(std::move(one));
        first = end;
    }
    return all;
}

std::string_view Connection::combined_text_of(std::span<const Queued> run) {
    std::array<const char*, combined_max> addresses{};
    std::ranges::transform(run, addresses.begin(), [](const Queued& part) {
        return part.statement.postgres.data();
    });
    auto& text = combined_[addresses];
    if (text.empty()) {
        std::vector<StatementPart> parts;
        for (const auto& part : run)
            parts.push_back({part.statement.postgres, part.use == Use::fence});
        text = combined_text(parts);
    }
    return text;
}

}  // namespace pawl::postgres
