#pragma once

#include "store/statements.hpp"
#include "tests/fences/fence_case.hpp"
#include "tests/fences/rows.hpp"

#include <string>
#include <vector>

// The statements on jobs, queues, leases and schedules.
namespace pawl::fences {

inline const std::string ready{"UPDATE pawl_jobs SET state = 'ready', lease_until = NULL"};

inline std::vector<Case> cases_of_jobs() {
    const std::string jobs{"pawl_jobs"};
    const std::string dead_jobs{"pawl_dead_jobs"};
    const auto held = R"(["60:7","6:7","60:70"])";
    const auto listed = "[60]";
    const auto dead = "[61]";
    const auto running = refuses("state", {"'ready'"});
    const auto waits = refuses("state", {"'running'"});
    const std::vector<Variations> of_claim{is("id", 60), is("attempt", 7), running};
    // Due since $5, of these failures and this kind.
    const auto due = [&](const std::vector<Variations>& more) {
        std::vector<Variations> all{
            is("queue", "mails-5"s),
            waits,
            is("priority", 2),
            at_most("run_at", now),
            refuses("kind", {"'other'"}),
            passes("kind", {"'a'", "'z'"})};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    const auto due_since_early = due(
        {is("failures", 2),
         passes("run_at", {literal(early)}),
         refuses("run_at", {text_by(early, -1)})}
    );
    const auto neighbours = neighbours_of(
        "pawl_jobs", "jid, queue, kind, args, state, run_at, created_at, priority, partition"
    );
    const auto others_later = "UPDATE pawl_jobs SET run_at = '" + late + "' WHERE id <> 60";
    const auto one_runs = "SELECT count(*) = 1 FROM pawl_jobs WHERE state = 'running'"s;
    const auto server_beats = "UPDATE pawl_servers SET seen_at = '" + late + "'";
    const auto rescue_values = std::vector<Arg>{now, late, early};
    return {
        {&sql::begin_job_alone, {60, 7}, jobs, of_claim},
        {&sql::claim_jobs,
         {"mails-5", now, late, 10, early, 2, 2, R"(["other"])", 9, 2},
         jobs,
         due_since_early,
         {ready}},
        {&sql::claim_jobs,
         {"mails-5", now, late, 10, early, null, null, "[]", 9, 2},
         jobs,
         {passes("failures", {"0", "9"})},
         {ready}},
        {&sql::claim_jobs,
         {"mails-5", now, late, 10, early, null, null, "[]", 9, 2},
         jobs,
         {},
         {ready, neighbours, others_later},
         one_runs},
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {},
         {neighbours,
          "UPDATE pawl_jobs SET state = 'running', lease_until = " + text_by(early, -1) +
              " WHERE id <> 60"},
         "SELECT count(*) = 2 FROM pawl_jobs WHERE state = 'running'"},
        {&sql::put_jobs_in_a_partition,
         {"mails-5", 58, 10},
         jobs,
         {},
         {ready,
          "UPDATE pawl_jobs SET partition = NULL",
          neighbours,
          "UPDATE pawl_jobs SET queue = 'other' WHERE id <> 60"},
         "SELECT count(partition) = 1 FROM pawl_jobs"},
        {&sql::claim_picked_jobs, {listed, late, 9}, jobs, {is("id", 60), waits}, {ready}},
        {&sql::copy_jobs_to_dead, {listed, "why", now, "now", "ann"}, jobs, {is("id", 60)}},
        {&sql::delete_cancelled_jobs, {listed}, jobs, {is("id", 60)}},
        {&sql::delete_dead_jobs, {dead}, dead_jobs, {is("id", 61)}},
        {&sql::delete_job, {60, 7}, jobs, of_claim},
        {&sql::delete_jobs, {held}, jobs, of_claim},
        {&sql::fail_job, {60, 7, "why", now, late, "now"}, jobs, of_claim},
        {&sql::find_held_jobs, {held}, jobs, of_claim},
        {&sql::find_unique_job, {"u-5"}, jobs, {is("unique_hash", "u-5"s)}},
        {&sql::insert_dead_job, {60, 7, "why", now, "why", "now"}, jobs, of_claim},
        {&sql::lock_dead_jobs, {dead}, dead_jobs, {is("id", 61)}},
        {&sql::lock_jobs, {listed}, jobs, {is("id", 60)}},
        {&sql::mark_job_called, {60, 7, now}, jobs, of_claim},
        {&sql::mark_jobs_called, {held, now}, jobs, of_claim},
        {&sql::merge_dead_jobs, {dead, now, 0, "now", "ann"}, dead_jobs, {is("id", 61)}},
        {&sql::merge_dead_jobs,
         {dead, now, 0, "now", "ann"},
         dead_jobs,
         {not_null("called_at")},
         {"UPDATE pawl_dead_jobs SET called_at = '" + now + "'"},
         "SELECT called_at IS NOT NULL FROM pawl_jobs WHERE id = 61"},
        {&sql::renew_job, {60, 7, late}, jobs, of_claim},
        {&sql::reschedule_job, {60, 7, late}, jobs, of_claim},
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {running,
          refuses("state", {"'ready', lease_until = " + text_by(late, 1)}),
          at_most("lease_until", now),
          refuses("lease_until", {literal(late)}),
          passes("lease_until", {text_by(late, 1), literal(early)}),
          refuses("lease_until", {text_by(early, -1)}),
          not_null("lease_until")}},
        // A death is counted if the server has not beaten since the lease's end.
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {at_most("pawl_servers.seen_at", now),
          refuses("lease_until", {text_by(late, 1)}),
          passes("server_id", {"8", "NULL"})},
         {},
         "SELECT deaths = 2 FROM pawl_jobs"},
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {refuses("lease_until", {text_by(late, 1)})},
         {"DELETE FROM pawl_servers"},
         "SELECT deaths = 2 FROM pawl_jobs"},
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {passes("pawl_servers.id", {"8", "10"})},
         {server_beats, "UPDATE pawl_servers SET id = 8"},
         "SELECT deaths = 2 FROM pawl_jobs"},
        {&sql::rescue_jobs,
         rescue_values,
         jobs,
         {refuses("server_id", {"8", "10"})},
         {server_beats},
         "SELECT deaths = 1 FROM pawl_jobs"},
        {&sql::rescue_previous_server_jobs, {now}, jobs, {running, not_null("lease_until")}},
        {&sql::retry_jobs_now,
         {listed, now},
         jobs,
         {is("id", 60), waits, above("run_at", now)},
         {ready, "UPDATE pawl_jobs SET run_at = '" + late + "'"}},
        {&sql::count_limited_jobs,
         {"mails-5"},
         jobs,
         {is("queue", "mails-5"s), running, not_null("partition")}},
        {&sql::count_limited_jobs,
         {"mails-5"},
         jobs,
         {above("failures", 0)},
         {"UPDATE pawl_jobs SET failures = 1"},
         {},
         Case::Shown{2, 1}},
        {&sql::pick_jobs,
         {"mails-5", now, 10, early, 2, 2, R"(["other"])", 2},
         jobs,
         due_since_early,
         {ready}},
        {&sql::pick_jobs,
         {"mails-5", now, 10, early, null, null, "[]", 2},
         jobs,
         {passes("failures", {"0", "9"})},
         {ready}},
        {&sql::pick_partition_jobs,
         {"mails-5", now, 10, "part-5", 2, 2, R"(["other"])", 2},
         jobs,
         due({is("failures", 2), is("partition", "part-5"s), not_null("partition")}),
         {ready}},
        {&sql::pick_partition_jobs,
         {"mails-5", now, 10, "part-5", null, null, "[]", 2},
         jobs,
         {passes("failures", {"0", "9"})},
         {ready}},
        {&sql::pick_partitions,
         {"mails-5", now, 10, "part-4", 2, 2, R"(["other"])", 2, R"(["part-9"])"},
         jobs,
         due(
             {is("failures", 2),
              above("partition", "part-4"s),
              refuses("partition", {"'part-9'", "NULL"})}
         ),
         {ready}},
        {&sql::pick_partitions,
         {"mails-5", now, 10, "part-4", null, null, "[]", 2, "[]"},
         jobs,
         {passes("failures", {"0", "9"}), passes("partition", {"'part-9'"})},
         {ready}},
        // Another job makes the walk pass the partition; only a due one lets it stop there.
        {&sql::pick_partitions,
         {"mails-5", now, 10, "part-4", 2, 2, R"(["other"])", 2, R"(["part-9"])"},
         jobs,
         {is("queue@id = 60", "mails-5"s),
          is("priority@id = 60", 2),
          refuses("state@id = 60", {"'running'"}),
          refuses("partition@id = 60", {"'part-45'", "'part-6'"})},
         {ready,
          "INSERT INTO pawl_jobs (id, jid, queue, kind, args, state, run_at, created_at, priority, "
          "partition) SELECT id + 1, 'jid-8', queue, 'other', args, state, run_at, created_at, "
          "priority, partition FROM pawl_jobs"},
         {},
         Case::Shown{0, "part-5"}},
        {&sql::put_jobs_in_a_partition,
         {"mails-5", 59, 10},
         jobs,
         {is("queue", "mails-5"s), above("id", 59), waits, refuses("partition", {"'part-5'"})},
         {ready, "UPDATE pawl_jobs SET partition = NULL"}},
        {&sql::find_job_without_partition,
         {"mails-5"},
         jobs,
         {is("queue", "mails-5"s), waits, refuses("partition", {"'part-5'"})},
         {ready, "UPDATE pawl_jobs SET partition = NULL"}},
    };
}

// The staged jobs, the inbox, and what moves between the two kinds of queues.
inline std::vector<Case> cases_of_staged_jobs() {
    const std::string staged{"pawl_staged_jobs"};
    const std::string jobs{"pawl_jobs"};
    const auto listed = "[62]";
    const auto waits = refuses("state", {"'running'"});
    const std::vector<Variations> due{
        at_most("run_at", now),
        at_most("claimed_until", now),
        passes("claimed_until", {"NULL"}),
        refuses("claimed_until", {literal(late)}),
        passes("claimed_until", {text_by(late, 1)})};
    return {
        {&sql::claim_staged_jobs, {now, now, late, late, 10, 9}, staged, due},
        {&sql::claim_staged_jobs,
         {now, now, late, late, 10, 8},
         staged,
         {},
         {neighbours_of(staged, "jid, queue, kind, args, run_at, created_at"),
          "UPDATE pawl_staged_jobs SET run_at = '" + late + "' WHERE id <> 62"},
         "SELECT count(*) = 1 FROM pawl_staged_jobs WHERE server_id = 8"},
        {&sql::find_due_staged_job, {now, now, late}, staged, due},
        {&sql::copy_jobs_to_staged, {"[60]"}, jobs, {is("id", 60)}},
        {&sql::copy_staged_to_jobs, {listed, "ready", 0, now}, staged, {is("id", 62)}},
        {&sql::delete_old_inbox_rows,
         {now, 10},
         "pawl_inbox",
         {below("done_at", now)},
         {"UPDATE pawl_inbox SET done_at = '" + early + "'"}},
        {&sql::delete_old_inbox_rows,
         {now, 10},
         "pawl_inbox",
         {},
         {"INSERT INTO pawl_inbox (jid, done_at) VALUES ('done-4', '" + late + "'), ('done-6', '" +
              late + "')",
          "UPDATE pawl_inbox SET done_at = '" + early + "' WHERE jid = 'done-5'"},
         "SELECT count(*) = 2 FROM pawl_inbox"},
        {&sql::delete_ready_jobs, {"[60]"}, jobs, {is("id", 60), waits}, {ready}},
        {&sql::pick_ready_jobs, {10}, jobs, {waits}, {ready}},
        {&sql::delete_staged_jobs, {listed}, staged, {is("id", 62)}},
        {&sql::release_staged_jobs, {listed}, staged, {is("id", 62)}},
        {&sql::release_previous_server_staged_jobs, {}, staged, {not_null("claimed_until")}},
        {&sql::find_pause, {"mails-5"}, "pawl_paused_queues", {is("queue", "mails-5"s)}},
        {&sql::resume_queue, {"mails-5"}, "pawl_paused_queues", {is("queue", "mails-5"s)}},
        {&sql::delete_job_call, {"done-5"}, "pawl_job_calls", {is("id", "done-5"s)}},
        {&sql::find_job_calls, {R"(["done-5"])"}, "pawl_job_calls", {is("id", "done-5"s)}},
        {&sql::find_jobs_done, {R"(["done-5"])"}, "pawl_inbox", {is("jid", "done-5"s)}},
        {&sql::forget_job_calls,
         {now, 10},
         "pawl_job_calls",
         {below("called_at", now)},
         {"UPDATE pawl_job_calls SET called_at = '" + early + "'"}},
        {&sql::forget_job_calls,
         {now, 10},
         "pawl_job_calls",
         {},
         {"INSERT INTO pawl_job_calls (id, called_at) VALUES ('done-4', '" + late +
              "'), ('done-6', '" + late + "')",
          "UPDATE pawl_job_calls SET called_at = '" + early + "' WHERE id = 'done-5'"},
         "SELECT count(*) = 2 FROM pawl_job_calls"},
        {&sql::forget_kafka_marks,
         {"topic-5", 4, 101},
         "pawl_kafka_marks",
         {is("topic", "topic-5"s), is("partition", 4), below("record_offset", 101)}},
        {&sql::list_kafka_marks,
         {"topic-5", 4, 100},
         "pawl_kafka_marks",
         {is("topic", "topic-5"s),
          is("partition", 4),
          at_least("record_offset", 100),
          passes("what", {"'purged'"}),
          refuses("what", {"'merging'"})},
         {"UPDATE pawl_kafka_marks SET what = 'merged'"}},
        {&sql::mark_kafka_record,
         {"topic-5", 4, 100, "merged", "ann", now, "why", "life"},
         "pawl_kafka_marks",
         {refuses("what", {"'merged'", "'purged'"})}},
    };
}

inline std::vector<Case> cases_of_locks() {
    const std::string leases{"pawl_leases"};
    const std::string windows{"pawl_once_windows"};
    const std::string limits{"pawl_queue_limits"};
    const std::string schedules{"pawl_schedules"};
    return {
        {&sql::acquire_lease,
         {"lease-5", 7, "another", late, 30000},
         leases,
         {is("name", "lease-5"s), is("epoch", 7)}},
        {&sql::extend_lease,
         {"lease-5", 7, "holder-5", late},
         leases,
         {is("name", "lease-5"s), is("epoch", 7), is("holder", "holder-5"s), not_null("holder")}},
        {&sql::release_lease,
         {"lease-5", "holder-5"},
         leases,
         {is("name", "lease-5"s), is("holder", "holder-5"s)}},
        {&sql::lock_lease, {"lease-5"}, leases, {is("name", "lease-5"s)}},
        {&sql::find_fencing_token, {"lease-5"}, "pawl_fencing_tokens", {is("name", "lease-5"s)}},
        {&sql::record_fencing_token, {"lease-5", 7}, "pawl_fencing_tokens", {at_most("epoch", 7)}},
        {&sql::close_window, {"window-5"}, windows, {is("hash", "window-5"s)}},
        {&sql::find_window, {"window-5"}, windows, {is("hash", "window-5"s)}},
        {&sql::set_window_result, {"window-5", "2"}, windows, {is("hash", "window-5"s)}},
        {&sql::delete_ended_windows,
         {now, 10},
         windows,
         {below("over_at", now)},
         {"UPDATE pawl_once_windows SET over_at = '" + early + "'"}},
        {&sql::delete_ended_windows,
         {now, 10},
         "pawl_once_windows",
         {},
         {"INSERT INTO pawl_once_windows (hash, over_at, result) VALUES ('window-4', '" + late +
              "', ''), ('window-6', '" + late + "', '')",
          "UPDATE pawl_once_windows SET over_at = '" + early + "' WHERE hash = 'window-5'"},
         "SELECT count(*) = 2 FROM pawl_once_windows"},
        {&sql::open_window,
         {"window-5", now, late, late},
         windows,
         {at_most("over_at", now),
          refuses("over_at", {literal(late)}),
          passes("over_at", {text_by(late, 1)})}},
        {&sql::advance_schedule,
         {"daily-5", "@daily-5", now, late, null},
         schedules,
         {is("name", "daily-5"s), is("schedule", "@daily-5"s), is("next_at", now)}},
        {&sql::declare_schedule,
         {"daily-5", "@daily-6", now},
         schedules,
         {refuses("schedule", {"'@daily-6'"}), passes("schedule", {"'@daily-7'"})}},
        {&sql::delete_queue_limits, {"mails-5"}, limits, {is("queue", "mails-5"s)}},
        {&sql::find_queue_limits, {"mails-5"}, limits, {is("queue", "mails-5"s)}},
        {&sql::lock_queue_limits, {"mails-5"}, limits, {is("queue", "mails-5"s)}},
        {&sql::set_queue_full_at, {"mails-5", 7}, limits, {is("queue", "mails-5"s)}},
        {&sql::delete_secret, {5}, "pawl_installation_secrets", {is("version", 5)}},
        {&sql::set_secret_used, {5, now}, "pawl_installation_secret_verifiers", {is("version", 5)}},
        // The mark only grows.
        {&sql::advance_mark,
         {now, 3},
         "pawl_marks",
         {refuses("at", {literal(late)})},
         {"INSERT INTO pawl_marks (id, number, at, key_id, calls) VALUES (1, 1, '" + early +
          "', 40, 9)"},
         "SELECT at = '" + now + "' FROM pawl_marks"},
        {&sql::advance_mark,
         {now, 3},
         "pawl_marks",
         {refuses("key_id", {"60"})},
         {"INSERT INTO pawl_marks (id, number, at, key_id, calls) VALUES (1, 1, '" + early +
          "', 40, 9)"},
         "SELECT key_id = 50 FROM pawl_marks"},
        {&sql::find_secret_in_use,
         {},
         "pawl_installation_secret_verifiers",
         {not_null("used_at")},
         {"UPDATE pawl_installation_secret_verifiers SET used_at = '" + now + "'"},
         {},
         Case::Shown{1, 1}},
        {&sql::delete_samples,
         {now},
         "pawl_samples",
         {below("at", now)},
         {"UPDATE pawl_samples SET at = '" + early + "'"}},
    };
}

}  // namespace pawl::fences
