#include "src/ops/key_acts.hpp"

#include <pawl/detail/rows.hpp>

#include "src/engine/timeline.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

namespace pawl::ops {

namespace {

constexpr int page_size = 1'000;
// Each key is a round trip, and PostgreSQL may be busy: 1.5 s a batch were measured.
constexpr std::chrono::seconds batch_deadline{30};

// What the time line says; "released" there is the end of an attempt.
std::string_view event_of(KeyVerb verb) {
    switch (verb) {
        case KeyVerb::retry:
            return "retry";
        case KeyVerb::hold:
            return "held";
        case KeyVerb::hand_over:
            return "attention";
        case KeyVerb::release:
            break;
    }
    return "hold-ended";
}

using detail::execute_statement;

// A result that was stored with the key stays with it.
bool reopen(detail::Session& session, std::int64_t id, TimePoint now) {
    if (execute_statement(session, sql::lock_attention_to_reopen, id) == 0) return false;
    if (execute_statement(session, sql::reopen_key, id, now) == 0) return false;
    execute_statement(session, sql::keep_result_of_attention, id, now);
    execute_statement(session, sql::delete_attention_of_key, id);
    return true;
}

bool hand_over(
    detail::Session& session, std::int64_t id, const queue::AuditEntry& act, TimePoint now
) {
    const auto why = "by " + act.by + ": " + act.reason;
    if (execute_statement(session, sql::hand_over_key, id, now, why) == 0) return false;
    execute_statement(session, sql::insert_attention_of_key, id, why, now);
    execute_statement(session, sql::delete_unrecorded_result, id);
    return true;
}

bool change(
    detail::Session& session,
    KeyVerb verb,
    std::int64_t id,
    const queue::AuditEntry& act,
    TimePoint now
) {
    switch (verb) {
        case KeyVerb::retry:
            return execute_statement(session, sql::release_for_retry, id, now) != 0 ||
                   reopen(session, id, now);
        case KeyVerb::hold:
            return execute_statement(session, sql::hold_key, id, now, act.by, act.reason) != 0;
        case KeyVerb::hand_over:
            return hand_over(session, id, act, now);
        case KeyVerb::release:
            break;
    }
    return execute_statement(session, sql::release_key, id) != 0;
}

}  // namespace

std::string_view name_of(KeyVerb verb) {
    switch (verb) {
        case KeyVerb::retry:
            return "retry";
        case KeyVerb::hold:
            return "hold";
        case KeyVerb::hand_over:
            return "hand-over";
        case KeyVerb::release:
            break;
    }
    return "release";
}

void page_keys_to_act_on(
    store::Store& store,
    KeyVerb verb,
    const KeyChoice& choice,
    std::int64_t above,
    int limit,
    const OnKeyToActOn& f
) {
    store::read_now(store, [&](store::Session& session) {
        detail::run_statement(
            session,
            sql::page_keys_to_act_on,
            f,
            choice.operation,
            choice.point,
            choice.error,
            choice.since,
            name_of(verb),
            session.now(),
            above,
            limit
        );
    });
}

std::vector<std::int64_t> ids_to_act_on(
    store::Store& store, KeyVerb verb, const KeyChoice& choice
) {
    const auto most = choice.count_max.value_or(std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> ids;
    while (std::ssize(ids) < most) {
        const auto limit =
            static_cast<int>(std::min<std::int64_t>(page_size, most - std::ssize(ids)));
        const auto above = ids.empty() ? 0 : ids.back();
        const auto before = std::ssize(ids);
        page_keys_to_act_on(store, verb, choice, above, limit, [&](const detail::Row& row) {
            ids.push_back(row.integer(0));
        });
        if (std::ssize(ids) - before < limit) break;
    }
    return ids;
}

bool act_on_key(
    detail::Session& session, KeyVerb verb, std::int64_t id, const queue::AuditEntry& act
) {
    const auto now = session.now();
    if (!change(session, verb, id, act, now)) return false;
    detail::send_statement(session, sql::insert_audit, now, act.by, name_of(verb), id, act.reason);
    engine::TimelineEvent event{.at = now, .what = std::string{event_of(verb)}, .by = act.by};
    if (!act.reason.empty()) event.detail = act.reason;
    engine::write_event_of_person(session, id, std::move(event));
    return true;
}

KeyActReport act_on_keys(
    store::Store& store,
    KeyVerb verb,
    const std::vector<std::int64_t>& ids,
    const queue::AuditEntry& act,
    const OnKeyBatch& on_batch
) {
    KeyActReport report{.chosen = std::ssize(ids)};
    std::span<const std::int64_t> rest{ids};
    while (!rest.empty()) {
        const auto batch = rest.first(std::min<std::size_t>(key_batch, rest.size()));
        const auto act_on_batch = [&](store::Session& session) {
            return std::ranges::count_if(batch, [&](std::int64_t id) {
                return act_on_key(session, verb, id, act);
            });
        };
        const auto done = store::write_now(store, act_on_batch, batch_deadline);
        report.done += done;
        report.left += std::ssize(batch) - done;
        rest = rest.subspan(batch.size());
        on_batch(report);
    }
    return report;
}

}  // namespace pawl::ops
