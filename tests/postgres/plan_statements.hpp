#pragma once

#include "rides/statements.hpp"
#include "store/doctor.hpp"
#include "store/postgres/session.hpp"
#include "store/statements.hpp"
#include "tests/postgres/plan_case.hpp"
#include "tests/postgres/plan_job_statements.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

// Every named statement; those of jobs, queues and schedules are in plan_job_statements.hpp.
namespace pawl::plans {

inline std::vector<Case> cases_of_keys() {
    const auto hash = hash_of(id::finished);
    const auto* batch = R"({"keys":[{"id":500007,"outcome":201},{"id":500008,"outcome":201}]})";
    const auto* point = "ride_created";
    return {
        {&sql::clear_calling, {id::open, "1", point, none, at::now}, {}, {}, 100, true},
        {&sql::count_attention, {}, {"pawl_attention"}, for_metrics, 0},
        {&sql::count_new_keys, {at::now, at::soon, "10"}},
        {&sql::list_oldest_unsettled,
         {"10"},
         {"pawl_idempotency_keys_open", "pawl_attention", "pawl_idempotency_keys"},
         by_people,
         0},
        {&sql::list_provider_errors,
         {"10"},
         {"pawl_idempotency_keys_open", "pawl_attention", "pawl_idempotency_keys"},
         by_people,
         0},
        {&sql::list_stuck_keys,
         {R"({"points":[{"operation":"book_ride","point":"ride_created"}]})", "10"},
         {"pawl_idempotency_keys_open", "pawl_attention", "pawl_idempotency_keys"},
         by_people,
         0},
        {&sql::count_open_by_point,
         {},
         {"pawl_idempotency_keys_open", "pawl_attention", "pawl_idempotency_keys"},
         at_the_start,
         0},
        {&sql::delete_attention, {id::attention, "1", none}},
        {&sql::delete_keys, {batch}},
        {&sql::delete_key, {id::finished}},
        {&sql::end_previous_server_leases,
         {at::long_ago, at::long_ago},
         {"pawl_idempotency_keys_open"},
         at_the_start,
         0},
        {&sql::expire_keys, {batch, at::now}},
        {&sql::expire_key, {id::finished, "201", "/rides/1", at::now}},
        {&sql::fail_attempt, {id::open, "1", point, "down", at::now}, {}, {}, 100, true},
        {&sql::find_completable,
         {at::later,
          at::later,
          "10",
          at::end_of_lease,
          at::end_of_lease,
          R"({"points":[{"operation":"book_ride","point":")" + std::string{point} + R"("}]})"},
         {"pawl_idempotency_keys_open"},
         few_are_open,
         500},
        // Far after the first of those that are due.
        {&sql::find_keys_to_expire, {at::most_expiries, "10", at::half_of_these, "600000"}},
        {&sql::find_expired_ids, {R"([")" + hash_of("77") + R"("])"}},
        {&sql::find_held,
         {R"([")" + hash + R"(",")" + hash_of(id::open) + R"("])", at::long_ago, at::end_of_lease}},
        {&sql::hold_key, {id::open, at::now, "ann", "why"}},
        {&sql::page_keys_to_act_on,
         {none, none, none, none, "hold", at::now, "0", "10"},
         {"pawl_idempotency_keys_open"},
         few_are_open,
         500},
        {&sql::release_key, {id::held}},
        {&sql::find_key, {hash}},
        {&sql::find_key_by_id, {id::finished}},
        {&sql::find_key_progress, {hash, hash_of(id::open)}},
        {&sql::find_settlements,
         {"10", at::now, at::later},
         {"pawl_attention_settled"},
         "the decisions alone that wait to be carried out, which are few",
         200},
        {&sql::finish_key,
         {id::open, "1", point, "201", "application/json", "[]", "{}", at::now, at::later},
         {},
         {},
         100,
         true},
        {&sql::delete_tombstones, {at::old_expiry, "10"}},
        {&sql::insert_attention, {id::next, "1", point, "stuck", "why", at::now}},
        {&sql::insert_audit, {at::now, "ann", "retry", id::open, "{}"}},
        {&sql::insert_key, {id::next, hash_of(id::next),
                            "t",      "a",
                            "k",      "book_ride",
                            "POST",   "/rides",
                            "::1",    "f",
                            "1",      "{}",
                            at::soon, point,
                            "{}",     "c",
                            at::now,  "false",
                            at::now,  none,
                            "0",      none,
                            "7"}},
        {&sql::insert_key_finished,
         {id::next,
          hash_of(id::next),
          "t",
          "a",
          "k",
          "get",
          "POST",
          "/rides",
          "::1",
          "f",
          "1",
          "{}",
          "201",
          "t",
          "[]",
          "{}",
          at::now,
          at::later,
          "0"}},
        {&sql::claim_key, {hash_of(id::next)}},
        {&sql::find_claimed_id, {hash_of(id::open)}},
        {&sql::keep_result_for_person, {id::attention, "Charge", "{}", "0", "ride_created"}},
        {&sql::list_attention, {"10"}, {"pawl_attention", "pawl_idempotency_keys"}, by_people, 0},
        {&sql::list_accounts, {"10"}},
        {&sql::move_key,
         {id::open, "1", point, "charged", "{}", at::soon, "c", at::now, "false", at::now, none},
         {},
         {},
         100,
         true},
        {&sql::note_completer_failure, {id::open, at::now, at::later}},
        {&sql::put_off_key, {id::open, at::later, at::now}},
        {&sql::release_for_retry, {id::open, at::now}},
        {&sql::renew_lease, {id::open, "1", point, at::soon}},
        {&sql::request_settlement,
         {id::attention, "1", "happened", "Charge", "{}", "ann", "seen", at::now}},
        {&sql::claim_expired_key, {hash_of("77")}},
        {&sql::set_completer_next, {id::open, at::later}},
        {&sql::set_settling_error, {id::attention, "1", "why"}},
        {&sql::show_attention, {id::attention}},
        {&sql::show_expired, {"77"}},
        {&sql::show_key, {id::open}},
        {&sql::take_from_attention, {id::attention, "1", "1", at::soon, at::now, "7"}},
        {&sql::take_over, {id::open, "1", at::now, at::soon, at::later, point, "7"}},
        {&sql::summarise_open_keys, {}, {"pawl_idempotency_keys_open"}, for_metrics, 0},
        {&sql::to_attention, {id::open, "1", point, "why", at::now}, {}, {}, 100, true},
        {&sql::undo_settlement, {"510001", "1"}},  // It has a decision.
    };
}

inline std::vector<Case> cases_of_inquiries() {
    const auto* point = "ride_created";
    const auto* batch = R"({"keys":[{"id":500001},{"id":500002},{"id":500003}]})";
    return {
        {&sql::call_anew,
         {id::open, "1", point, "0", "c", at::now, "false", none, at::soon},
         {},
         {},
         100,
         true},
        {&sql::delete_calls_not_made, {batch}},
        {&sql::delete_inquiries, {batch}},
        {&sql::delete_key_events, {batch}},
        {&sql::delete_middle_key_events, {id::open, "11", "20"}},
        {&sql::delete_samples, {at::long_ago}},
        {&sql::fail_inquiry, {id::open, "1", point, "asked", at::now}, {}, {}, 100, true},
        {&sql::find_doubt_of_event,
         {std::string(58, '0') + id::attention, none, none},
         {"pawl_attention", "pawl_attention_pkey"},
         "the attention list, which is short",
         0},
        {&sql::find_inquiry, {id::open, "0", point}},
        {&sql::find_refusals, {id::open, point}},
        {&sql::insert_call_not_made, {id::next, "0", point, "bank a", "refused", "why", at::now}},
        {&sql::insert_key_events, {id::open, "1", "0", "{}"}},
        {&sql::insert_key_events_of_person, {id::open, "{}"}},
        {&sql::insert_sample, {at::now, "1", "{}"}},
        {&sql::list_audit, {none, "10"}},
        {&sql::list_key_events, {id::open}},
        {&sql::list_last_key_events, {hash_of(id::open)}},
        {&sql::list_samples, {at::now, "10"}},
        {&sql::list_providers,
         {},
         {"pawl_attention", "pawl_idempotency_keys_open", "pawl_idempotency_keys", "pawl_servers"},
         by_people,
         0},
        {&sql::note_inquiry, {id::open, "0", point, at::now, "undecided", "why"}},
    };
}

// A search has one criterion, and NULL for the others.
inline std::vector<Case> cases_of_search() {
    const auto* since = "2000-01-01 00:00:00+00";
    const auto* until = "9999-01-01 00:00:00+00";
    const auto* all = "pawl_idempotency_keys";
    const auto* batch = R"({"keys":[{"id":77},{"id":78}]})";
    const auto by = [&](std::size_t n, Text value) {
        std::vector<Text> values(7, none);
        if (n > 0) values[n - 1] = std::move(value);
        for (const auto* more : {since, until, "0", "10"}) values.emplace_back(more);
        return values;
    };
    auto by_id = by(0, none);
    by_id.emplace_back("[500007, 500008]");
    return {
        {&sql::delete_key_references, {batch}},
        {&sql::find_keys_by_reference, {"req-500007", "request", "10"}},
        {&sql::find_keys_by_text, {"req-500007", "10"}},
        {&sql::find_place_of_key, {id::finished}},
        {&sql::insert_key_reference, {id::open, "ride", "1"}},
        {&sql::move_key_references, {"77", id::next}},
        {&sql::search_expired_by_id, {since, until, "0", "10", "[77, 78]"}},
        {&sql::search_expired_by_time,
         {since, until, "0", "10"},
         {"pawl_key_registry_expired", "pawl_key_registry"},
         by_people,
         0},
        {&sql::search_keys_by_account,
         by(4, "user-7"),
         {all, "pawl_idempotency_keys_created", "pawl_idempotency_keys_account"},
         by_people,
         0},
        {&sql::search_keys_by_id, by_id},
        {&sql::search_keys_by_key, by(5, "key-500007")},
        {&sql::search_keys_by_operation,
         by(2, "book_ride"),
         {all, "pawl_idempotency_keys_created", "pawl_idempotency_keys_operation"},
         by_people,
         0},
        {&sql::search_keys_by_time,
         by(0, none),
         {all, "pawl_idempotency_keys_created"},
         by_people,
         0},
        {&sql::search_unsettled_keys,
         by(1, "open"),
         {"pawl_idempotency_keys_open", "pawl_attention", all},
         by_people,
         0},
    };
}

inline std::vector<Case> cases_of_servers() {
    const auto* servers_are_few = "the servers, which are few";
    const auto* at_an_end = "once, at the end of a server that has died";
    return {
        {&sql::beat, {"7", at::now, "99"}},
        {&sql::delete_all_servers, {}, {"pawl_servers"}, at_the_start, 0},
        {&sql::delete_server, {"7"}},
        {&sql::delete_silent_server, {"7", "1"}},
        {&sql::end_leases_of_server,
         {"7", at::long_ago, at::long_ago},
         {"pawl_idempotency_keys_open"},
         few_are_open,
         0},
        {&sql::find_other_servers, {"7"}, {"pawl_servers"}, servers_are_few, 0},
        {&sql::insert_server, {"host", "1.0", at::now, none}},
        {&sql::list_servers,
         {},
         {"pawl_servers",
          "pawl_idempotency_keys_open",
          "pawl_jobs",
          "pawl_jobs_leased",
          "pawl_staged_jobs"},
         by_people,
         0},
        {&sql::release_staged_jobs_of_server, {"7"}, {"pawl_staged_jobs"}, at_an_end, 0},
        {&sql::rescue_jobs_of_server,
         {"7", at::now},
         {"pawl_jobs", "pawl_jobs_leased"},
         at_an_end,
         0},
        {&sql::set_providers_down, {"7", R"({"down":[]})"}},
    };
}

inline std::vector<Case> cases_of_doctor() {
    return {
        {&sql::doctor::durability, {}},
        {&sql::doctor::find_role, {}},
        {&sql::doctor::list_beats, {}, {"pawl_servers"}, by_people, 0},
        {&sql::doctor::list_dead_rows, {"10000"}},
        {&sql::doctor::list_missing_rights, {}},
        {&sql::doctor::list_old_snapshots, {"60"}},
        {&sql::doctor::newest_times, {}},
        {&sql::doctor::page_attention_keys, {"500000", "10"}},
        {&sql::doctor::page_jobs, {"77", "10"}},
        {&sql::doctor::page_open_keys, {"500000", "10"}},
        {&sql::doctor::page_staged_jobs, {"0", "10"}},
    };
}

inline std::vector<Case> cases_of_kafka() {
    const auto* jobs = R"(["rides/77","rides/78","rides/79"])";
    const auto* dead = "pawl.mails__rides__dlq";
    return {
        {&sql::delete_job_call, {"rides/77"}},
        {&sql::find_job_calls, {jobs}},
        {&sql::find_jobs_done, {jobs}},
        {&sql::forget_job_calls, {at::long_ago, "10"}},
        {&sql::forget_kafka_marks, {dead, "0", "10"}, {"pawl_kafka_marks"}, by_people, 0},
        {&sql::insert_job_call, {"rides/new", at::now}},
        {&sql::list_kafka_marks, {dead, "0", "99990"}},
        {&sql::mark_kafka_record, {dead, "0", "200000", "merged", "ann", at::now, "why", "jid@"}},
    };
}

inline std::vector<Case> cases_of_locks() {
    const auto hash = hash_of("77");
    const auto* far = "2027-01-03 00:00:00+00";
    return {
        {&sql::close_window, {hash}},
        {&sql::extend_lease, {"lease-77", "1", "holder", at::soon}},
        {&sql::find_fencing_token, {"lease-77"}},
        {&sql::find_window, {hash}},
        {&sql::delete_ended_windows, {"2026-12-31 00:00:10+00", "10"}, {}, {}, 200},
        {&sql::release_lease, {"lease-77", "holder"}},
        {&sql::insert_lease, {"new", "holder", at::soon, "30000"}},
        {&sql::lock_lease, {"lease-77"}},
        {&sql::open_window, {hash, at::now, at::soon, far}},
        {&sql::record_fencing_token, {"lease-77", "2"}},
        {&sql::set_window_result, {hash, "7"}},
        {&sql::acquire_lease, {"lease-77", "1", "holder", at::soon, "30000"}},
    };
}

// For tables with at most a few rows; create_migrations, which makes one, has no plan.
inline std::vector<Case> cases_of_the_database() {
    const auto* rows =
        R"([{"p1":"j","p2":"queue-1","p3":"k","p4":"{}","p5":"2027-01-01","p7":"2027-01-01"}])";
    const std::vector<Text> two_jobs{
        "j",
        "queue-1",
        "k",
        "{}",
        at::now,
        "7",
        at::now,
        "k",
        "queue-1",
        "k",
        "{}",
        at::now,
        "7",
        at::now};
    return {
        {&sql::advance_mark, {at::now, "3"}},
        {&sql::delete_secret, {"1"}},
        {&sql::find_epochs, {}},
        {&sql::find_installation, {}},
        {&sql::find_mark, {}},
        {&sql::find_migrations, {"pawl"}},
        {&sql::find_migrations_table, {}},
        {&sql::find_secret_verifiers, {}},
        {&sql::find_secrets, {}},
        {&sql::find_tables, {}},
        {&sql::insert_epoch, {"2", at::now, at::long_ago, at::soon, "ann", "a test"}},
        {&sql::insert_installation, {"name", at::now}},
        {&sql::insert_migration, {"pawl", "later", at::now, ""}},
        {&sql::insert_secret, {"1", "secret", at::now}},
        {&sql::insert_secret_verifier, {"1", "verifier", at::now}},
        {&sql::list_migrations, {}},
        {&sql::lock_migrations, {}},
        {&sql::postgres::begin_work, {"5000", "0"}},
        {&sql::postgres::claim_key_under_id, {id::next, hash_of(id::next)}, {}, {}, 100, true},
        {&sql::postgres::database_clock, {}},
        {&sql::postgres::insert_jobs, {rows}},
        {&sql::postgres::insert_staged_jobs, {rows}},
        {&sql::postgres::insert_two_jobs, two_jobs},
        {&sql::postgres::insert_two_key_references,
         {id::open, "ride", "1", id::open, "charge", "ch_1"}},
        {&sql::postgres::insert_two_staged_jobs, two_jobs},
        {&sql::postgres::lock_name, {"7"}},
        {&sql::postgres::set_lock_timeout, {"50"}},
        {&sql::postgres::preallocate_key_ids, {"10"}},
        {&sql::postgres::try_lock_name, {"7"}},
    };
}

inline std::vector<Case> cases_of_rides() {
    const auto* now = at::now;
    return {
        {&rides::sql::add_points, {id::user, "3"}},
        {&rides::sql::cancel_ride, {id::ride, id::user}},
        {&rides::sql::end_session, {"session-77", at::now}},
        {&rides::sql::find_ended_sessions, {}},
        {&rides::sql::find_key_of_charge,
         {"cus_of_keys", "key-100077"},
         {"pawl_idempotency_keys"},
         by_people,
         0},
        {&rides::sql::close_differences, {"2026-12-31", at::now, at::now}, {}, {}, 2000},
        {&rides::sql::find_charged_ride, {"ch_77"}},
        {&rides::sql::find_event, {"evt_77"}},
        {&rides::sql::find_ride, {id::ride, id::user}},
        {&rides::sql::find_ride_of_charge, {"ch_77"}},
        {&rides::sql::find_ride_of_key, {"250076", id::user}},
        {&rides::sql::find_rider_of_customer, {"cus_77"}},
        {&rides::sql::find_state_of_trip, {id::trip, "rides", "user-77@example.com"}},
        {&rides::sql::find_trip, {id::trip, id::user}},
        {&rides::sql::find_trip_of_charge, {"ch_share_77"}},
        {&rides::sql::find_state_for_refund, {id::ride, "rides", "user-77@example.com"}},
        {&rides::sql::find_user, {"user-77@example.com"}},
        {&rides::sql::insert_audit, {"created", now, "{}", "::1", id::ride, "ride", id::user}},
        {&rides::sql::insert_event,
         {"evt_new", "charge.succeeded", now, now, "ch_77", "2000", "0", "{}", none}},
        {&rides::sql::insert_refund, {id::ride, "ride-77-refund-9", now, "500"}},
        {&rides::sql::insert_ride,
         {now, id::next, "47.6", "-122.3", "47.6", "-122.3", "2000", "usd", "rides", id::user}},
        {&rides::sql::insert_trip,
         {now,
          id::next,
          "47.6",
          "-122.3",
          "47.6",
          "-122.3",
          "500",
          "1500",
          "usd",
          "rides",
          id::user}},
        {&rides::sql::forget_ended_sessions, {at::long_ago}},
        {&rides::sql::insert_user, {"new@example.com", "cus_new"}},
        {&rides::sql::keep_customer, {id::user, "cus_new"}},
        {&rides::sql::keep_refund, {id::ride, "ride-77-refund-1", now, "500", "re_new"}},
        {&rides::sql::list_charged_rides,
         {at::long_ago, at::now, id::ride, "10"},
         {"rides", "rides_pkey"},
         by_people,
         0},
        {&rides::sql::list_charged_trips,
         {at::long_ago, at::now, id::trip, "10"},
         {"trips", "trips_pkey"},
         by_people,
         0},
        {&rides::sql::last_compared_day, {}},
        {&rides::sql::list_day, {at::long_ago, at::now, "10"}},
        {&rides::sql::list_day_after, {at::long_ago, "1", at::now, "10"}},
        {&rides::sql::list_differences,
         {"", "open", "10"},
         {"reconcile_differences", "reconcile_differences_pkey"},
         by_people,
         0},
        {&rides::sql::list_open_days,
         {"2026-01-01"},
         {"reconcile_differences", "reconcile_differences_open"},
         once_a_day,
         0},
        {&rides::sql::list_rides, {id::user, none, "10"}},
        {&rides::sql::put_day, {"2027-01-01", at::now, "10", "10", "0"}},
        {&rides::sql::put_difference,
         {"ch_new", "2026-12-31", "only-ours", id::ride, "2000", "usd", "booked", at::now}},
        {&rides::sql::set_charge, {id::ride, "ch_new"}},
        {&rides::sql::set_customer, {"user-77@example.com", "cus_new"}},
        {&rides::sql::set_event_state, {"evt_77", "applied"}},
        {&rides::sql::set_refund_state, {id::ride, "ride-77-refund-1", "not_made"}},
        {&rides::sql::set_refunded, {id::ride, "re_new"}},
        {&rides::sql::set_refunded_by_event, {"ch_77"}},
        {&rides::sql::set_role, {"user-77@example.com", "support"}},
        {&rides::sql::set_state, {id::ride, "booked"}},
        {&rides::sql::set_trip_hold, {id::trip, "ch_hold_new"}},
        {&rides::sql::set_trip_paid, {id::trip, "ch_rest_new"}},
        {&rides::sql::set_trip_share, {id::trip, "ch_share_new"}},
        {&rides::sql::set_trip_state, {id::trip, "refused"}},
        {&rides::sql::show_ride_for_refund, {id::ride}},
        {&rides::sql::show_ride_of_charge, {"ch_77"}},
        {&rides::sql::show_trip_for_pick_up, {id::trip}},
        {&rides::sql::start_pick_up, {id::trip}},
    };
}

inline std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto cases :
         {cases_of_keys(),
          cases_of_jobs(),
          cases_of_staged_jobs(),
          cases_of_queue_limits(),
          cases_of_schedules(),
          cases_of_servers(),
          cases_of_doctor(),
          cases_of_inquiries(),
          cases_of_search(),
          cases_of_kafka(),
          cases_of_locks(),
          cases_of_the_database(),
          cases_of_rides()})
        all.insert(all.end(), cases.begin(), cases.end());
    return all;
}

}  // namespace pawl::plans
