#include "src/queue/embedded/embedded_dead_letters.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/core/fault.hpp"
#include "src/queue/embedded/job_ids.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

#include <chrono>

namespace pawl::queue {

using detail::execute_statement;
using detail::read_row;
using detail::read_rows;
using detail::Row;
using detail::run_statement;

namespace {

using Ids = std::span<const std::string>;
using Text = std::optional<std::string>;

constexpr std::chrono::seconds batch_deadline{30};

DeadLetter letter_of(const Row& row) {
    store::DamagedRow values{row, "list_dead_jobs"};
    DeadLetter letter;
    letter.id = std::to_string(row.integer(0));
    letter.jid = row.text(1);
    letter.queue = row.text(2);
    letter.kind = row.text(3);
    letter.args = row.text(4);
    letter.failures = values.column<int>(5, "failures");
    letter.error = values.column<Text>(6, "error").value_or("");
    letter.error_kind = row.text(7);
    letter.history = row.text(8);
    letter.called_at = values.column<std::optional<TimePoint>>(9, "called_at");
    letter.key_id = values.column<std::optional<std::int64_t>>(10, "key_id");
    letter.created_at = values.column<TimePoint>(11, "created_at");
    letter.first_failed_at = values.column<std::optional<TimePoint>>(12, "first_failed_at");
    letter.last_failed_at = values.column<std::optional<TimePoint>>(13, "last_failed_at");
    letter.died_at = values.column<TimePoint>(14, "died_at");
    letter.damaged = values.damage();
    return letter;
}

struct Locked {
    std::vector<std::int64_t> there;
    int forgotten{};
};

Locked lock_letters(
    store::Session& session,
    const std::vector<std::int64_t>& numbers,
    std::optional<TimePoint> remembered_since
) {
    Locked locked;
    run_statement(
        session,
        sql::lock_dead_jobs,
        [&](const Row& row) {
            store::DamagedRow values{row, "lock_dead_jobs"};
            const auto called_at = values.column<std::optional<TimePoint>>(1, "called_at");
            // If called_at does not decode, the call may have been long ago.
            const bool long_ago = !values.problem().empty() ||
                                  (called_at && remembered_since && *called_at < *remembered_since);
            if (remembered_since && long_ago)
                ++locked.forgotten;
            else
                locked.there.push_back(row.integer(0));
        },
        json_list(numbers)
    );
    return locked;
}

PurgeResult done_of(Ids ids, const Locked& locked) {
    const auto done = static_cast<int>(locked.there.size());
    return {done, static_cast<int>(ids.size()) - done - locked.forgotten, locked.forgotten};
}

}  // namespace

std::vector<DeadLetter> EmbeddedDeadLetters::page(
    const DeadLetterFilter& filter, const std::string& after, int limit
) {
    return store::read_now(store_, [&](store::Session& session) {
        return read_rows(
            session,
            sql::list_dead_jobs,
            letter_of,
            job_number(after).value_or(0),
            limit,
            filter.queue,
            filter.kind,
            filter.error_kind,
            filter.error,
            filter.died_before,
            filter.died_since,
            filter.failures_min
        );
    });
}

std::vector<DeadLetterGroup> EmbeddedDeadLetters::groups(const DeadLetterFilter& filter) {
    return store::read_now(store_, [&](store::Session& session) {
        return read_rows(
            session,
            sql::group_dead_jobs,
            [](const Row& row) {
                store::DamagedRow values{row, "group_dead_jobs"};
                return DeadLetterGroup{
                    std::string{row.text(0)},
                    std::string{row.text(1)},
                    std::string{row.text(2)},
                    row.integer(3),
                    values.column<TimePoint>(4, "first_died_at"),
                    values.column<TimePoint>(5, "last_died_at"),
                    std::to_string(row.integer(6))};
            },
            filter.queue,
            filter.kind,
            filter.error_kind,
            filter.error,
            filter.died_before,
            filter.died_since,
            filter.failures_min
        );
    });
}

std::optional<DeadLetter> EmbeddedDeadLetters::find(const std::string& id) {
    const auto number = job_number(id);
    if (!number) return std::nullopt;
    return store::read_now(store_, [&](store::Session& session) {
        return read_row(session, sql::find_dead_job, letter_of, *number);
    });
}

PurgeResult EmbeddedDeadLetters::purge(Ids ids, const AuditEntry& act) {
    PAWL_FAULT("queue.purge.before");
    const auto numbers = job_numbers(ids);
    const auto done = store::write_now(
        store_,
        [&](store::Session& session) {
            const auto locked = lock_letters(session, numbers, std::nullopt);
            if (!locked.there.empty()) {
                execute_statement(session, sql::delete_dead_jobs, json_list(locked.there));
                audit_jobs(session, act, "purge", locked.there);
            }
            return done_of(ids, locked);
        },
        batch_deadline
    );
    PAWL_FAULT("queue.purge.after");
    return done;
}

PurgeResult EmbeddedDeadLetters::merge(
    Ids ids, const AuditEntry& act, std::optional<TimePoint> remembered_since
) {
    PAWL_FAULT("queue.merge.before");
    const auto numbers = job_numbers(ids);
    const auto done = store::write_now(
        store_,
        [&](store::Session& session) {
            const auto locked = lock_letters(session, numbers, remembered_since);
            if (!locked.there.empty()) {
                const auto list = json_list(locked.there);
                const auto now = session.now();
                execute_statement(
                    session,
                    sql::merge_dead_jobs,
                    list,
                    now,
                    !remembered_since.has_value(),
                    base::time_text(now),
                    act.by
                );
                execute_statement(session, sql::delete_dead_jobs, list);
                audit_jobs(session, act, "merge", locked.there);
            }
            return done_of(ids, locked);
        },
        batch_deadline
    );
    PAWL_FAULT("queue.merge.after");
    return done;
}

}  // namespace pawl::queue
