#pragma once

#include "store/statements.hpp"
#include "tests/postgres/plan_case.hpp"

#include <vector>

// The statements of jobs, queues and schedules.
namespace pawl::plans {

inline std::vector<Case> cases_of_jobs() {
    const auto* dead = "[1000001,1000002]";
    const auto* held = R"(["120003:1","120006:1"])";
    const auto* waiting = "[120004,120005]";
    const auto* since = R"(["2026-01-01 00:00:00+00","2026-01-01 00:00:00+00"])";
    return {
        {&sql::insert_dead_job, {id::running_job, "1", "why", at::now, "why", "now"}},
        {&sql::claim_jobs,
         {"queue-1",
          at::later,
          at::end_of_lease,
          "10",
          at::long_ago,
          "0",
          "0",
          R"(["another"])",
          "7",
          "1"},
         {},
         {},
         300},
        {&sql::claim_picked_jobs, {waiting, at::end_of_lease, "7"}, {}, {}, 200},
        {&sql::count_jobs, {}, {"pawl_jobs"}, by_people, 0},
        {&sql::count_retries, {}, {"pawl_jobs", "pawl_jobs_due"}, by_people, 0},
        {&sql::delete_job, {id::running_job, "1"}},
        {&sql::delete_jobs, {held}},
        {&sql::delete_dead_jobs, {dead}, {"pawl_dead_jobs"}, by_people, 0},
        {&sql::fail_job, {id::running_job, "1", "why", at::now, at::later, "now"}},
        {&sql::find_dead_job, {"1000001"}},
        {&sql::find_unique_job, {hash_of("77")}},
        {&sql::group_dead_jobs,
         {none, none, none, none, none, none, none},
         {"pawl_dead_jobs"},
         by_people,
         0},
        {&sql::insert_job, {"j", "queue-1", "send_receipt", "{}", at::now, id::open, at::now}},
        {&sql::insert_special_job,
         {"u",
          "queue-1",
          "send_receipt",
          "{}",
          at::now,
          id::open,
          at::now,
          "new",
          "2",
          "tenant-1",
          none}},
        {&sql::list_dead_jobs,
         {"0", "10", none, none, none, none, none, none, none},
         {"pawl_dead_jobs", "pawl_dead_jobs_pkey"},
         by_people,
         0},
        {&sql::lock_dead_jobs, {dead}, {"pawl_dead_jobs"}, by_people, 0},
        {&sql::merge_dead_jobs,
         {dead, at::now, "false", "now", "ann"},
         {"pawl_dead_jobs"},
         by_people,
         0},
        {&sql::begin_job_alone, {id::running_job, "1"}},
        {&sql::mark_job_called, {id::running_job, "1", at::now}},
        {&sql::mark_jobs_called, {held, at::now}},
        {&sql::next_job_at, {"queue-1", since, at::later, "0", "20", R"(["another"])"}},
        {&sql::reschedule_job, {id::running_job, "1", at::later}},
        {&sql::renew_job, {id::running_job, "1", at::later}},
        {&sql::rescue_jobs,
         {"2027-02-01 00:00:00.1+00", "2027-03-01 00:00:00+00", at::long_ago},
         {},
         {},
         200},
        {&sql::rescue_previous_server_jobs,
         {at::now},
         {"pawl_jobs_leased", "pawl_jobs"},
         at_the_start,
         0},
        {&sql::find_held_jobs, {held}},
        {&sql::count_dead_jobs, {}, {"pawl_dead_jobs"}, by_people, 0},
        {&sql::list_jobs,
         {"0", "10", at::now, none, none, none, none, none, none, none},
         {"pawl_jobs", "pawl_jobs_pkey"},
         by_people,
         0},
        {&sql::lock_jobs, {waiting}, {"pawl_jobs", "pawl_jobs_due"}, by_people, 0},
        {&sql::copy_jobs_to_dead,
         {waiting, "why", at::now, "now", "ann"},
         {"pawl_jobs", "pawl_jobs_due"},
         by_people,
         0},
        {&sql::delete_cancelled_jobs, {waiting}, {"pawl_jobs", "pawl_jobs_due"}, by_people, 0},
        {&sql::retry_jobs_now, {waiting, at::now}, {"pawl_jobs", "pawl_jobs_due"}, by_people, 0},
    };
}

// There are few staged jobs while an enqueuer runs, and many after an outage of the queue: draining
// must not read them all.
inline std::vector<Case> cases_of_staged_jobs() {
    const auto* ids = "[1000001,1000002]";
    const auto* ready = "[120004,120005]";
    constexpr auto after_a_change = "after a change of queue, until it is empty";
    return {
        {&sql::claim_staged_jobs, {at::now, at::now, at::soon, at::later, "10", "7"}, {}, {}, 300},
        {&sql::copy_jobs_to_staged, {ready}, {"pawl_jobs", "pawl_jobs_due"}, after_a_change, 0},
        {&sql::copy_staged_to_jobs,
         {ids, "ready", "0", at::now},
         {"pawl_staged_jobs"},
         after_a_change,
         0},
        {&sql::count_staged_jobs, {}, {"pawl_staged_jobs"}, by_people, 0},
        {&sql::delete_ready_jobs, {ready}, {"pawl_jobs", "pawl_jobs_due"}, after_a_change, 0},
        {&sql::delete_staged_jobs, {ids}, {}, {}, 200},
        {&sql::find_due_staged_job, {at::now, at::now, at::later}},
        {&sql::find_pause, {"queue-1"}},
        {&sql::find_waiting_job, {}, {"pawl_jobs"}, at_the_start, 0},
        {&sql::delete_old_inbox_rows, {at::now, "10"}, {}, {}, 200},
        {&sql::insert_done, {"jid", at::now}},
        {&sql::insert_staged_job,
         {"j", "queue-1", "send_receipt", "{}", at::now, id::open, at::now}},
        {&sql::insert_traced_staged_job,
         {"j", "queue-1", "send_receipt", "{}", at::now, id::open, at::now, "trace"}},
        {&sql::list_pauses, {}, {"pawl_paused_queues"}, by_people, 0},
        {&sql::pause_queue, {"queue-1", at::now, "ann", "why"}},
        {&sql::pick_ready_jobs,
         {"10"},
         {"pawl_jobs", "pawl_jobs_pkey", "pawl_jobs_due"},
         after_a_change,
         0},
        {&sql::release_previous_server_staged_jobs, {}, {"pawl_staged_jobs"}, at_the_start, 0},
        {&sql::release_staged_jobs, {ids}, {}, {}, 200},
        {&sql::resume_queue, {"queue-1"}},
    };
}

inline std::vector<Case> cases_of_queue_limits() {
    const auto* kinds = R"(["another"])";
    return {
        {&sql::count_limited_jobs, {"queue-2"}},
        {&sql::declare_queue_limits, {"queue-2", "10", "2", "3/s, burst 4"}},
        {&sql::delete_queue_limits, {"queue-2"}},
        {&sql::find_job_without_partition,
         {"queue-0"},
         {"pawl_jobs", "pawl_jobs_pkey", "pawl_jobs_due"},
         "a sweep of all jobs",
         0},
        {&sql::find_queue_limits, {"queue-2"}},
        {&sql::insert_queue_limits, {"queue-2"}},
        {&sql::list_queue_limits, {}, {"pawl_queue_limits"}, by_people, 0},
        {&sql::lock_queue_limits, {"queue-2"}},
        {&sql::pick_jobs,
         {"queue-2", at::later, "10", at::long_ago, "0", "20", kinds, "1"},
         {},
         {},
         200},
        {&sql::pick_partition_jobs,
         {"queue-2", at::later, "10", "tenant-6", "0", "20", kinds, "1"},
         {},
         {},
         200},
        {&sql::pick_partitions,
         {"queue-2", at::later, "10", "tenant-3", "0", "20", kinds, "1", R"(["tenant-5"])"},
         {},
         {},
         200},
        {&sql::put_jobs_in_a_partition,
         {"queue-0", "0", "1000"},
         {"pawl_jobs", "pawl_jobs_pkey", "pawl_jobs_due"},
         "a sweep of all jobs",
         0},
        {&sql::set_queue_full_at, {"queue-2", "17"}},
    };
}

inline std::vector<Case> cases_of_schedules() {
    return {
        {&sql::advance_schedule, {"report-77", "@daily ", at::now, at::soon, at::now}},
        {&sql::declare_schedule, {"report-77", "@daily ", at::now}},
        {&sql::list_schedules,
         {},
         {"pawl_schedules"},
         "the periodic jobs of a program, which are few",
         0},
    };
}

}  // namespace pawl::plans
