#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

// What tests/fences does not check, and why.
namespace pawl::fences {

struct Unchecked {
    std::string_view statement;
    std::string_view why;
};

namespace because {
inline constexpr std::string_view people = "shown to people or counted; no statement acts by it";
inline constexpr std::string_view list = "a list; the statement of each act has the conditions";
inline constexpr std::string_view bytes = "a case has no bytes; the primary key alone";
inline constexpr std::string_view unique = "a unique index decides";
inline constexpr std::string_view one_row = "the table has one row, by its CHECK";
inline constexpr std::string_view schema = "finds the tables themselves";
inline constexpr std::string_view sooner = "when a worker polls next; claim_jobs decides";
}  // namespace because

inline constexpr Unchecked statements_without_case[] = {
    {"count_jobs", because::people},
    {"count_lost_found", because::people},
    {"count_lost_in_other_files", because::people},
    {"count_lost_refused", because::people},
    {"count_lost_set_aside", because::people},
    {"count_new_keys", because::people},
    {"count_open_by_point", because::people},
    {"count_retries", because::people},
    {"count_unrecorded_results", because::people},
    {"count_unsent_files", because::people},
    {"find_dead_job", because::people},
    {"find_installation", because::one_row},
    {"find_key_progress", because::people},
    {"find_keys_by_reference", because::people},
    {"find_keys_by_text", because::people},
    {"find_mark", because::one_row},
    {"find_migrations", because::schema},
    {"find_migrations_table", because::schema},
    {"find_place_of_key", because::people},
    {"find_tables", because::schema},
    {"group_dead_jobs", because::people},
    {"insert_special_job", because::unique},
    {"list_accounts", because::people},
    {"list_attention", because::people},
    {"list_audit", because::people},
    {"list_dead_jobs", because::list},
    {"list_jobs", because::list},
    {"list_key_events", because::people},
    {"list_last_key_events", because::people},
    {"list_oldest_unsettled", because::people},
    {"list_provider_errors", because::people},
    {"list_providers", because::people},
    {"list_reports", because::people},
    {"list_samples", because::people},
    {"list_servers", because::people},
    {"list_stuck_keys", because::people},
    {"find_next_file", because::one_row},
    {"lock_next_file", because::one_row},
    {"next_file_number", because::one_row},
    {"next_job_at", because::sooner},
    {"page_keys_to_act_on", because::list},
    {"reopen_file", because::bytes},
    {"search_expired_by_id", because::people},
    {"search_expired_by_time", because::people},
    {"search_keys_by_account", because::people},
    {"search_keys_by_id", because::people},
    {"search_keys_by_key", because::people},
    {"search_keys_by_operation", because::people},
    {"search_keys_by_time", because::people},
    {"search_unsettled_keys", because::people},
    {"show_attention", because::people},
    {"show_expired", because::people},
    {"show_key", because::people},
    {"summarise_open_keys", because::people},
};

inline bool has_reason(std::string_view statement) {
    return std::any_of(
        std::begin(statements_without_case),
        std::end(statements_without_case),
        [&](const auto& one) { return one.statement == statement; }
    );
}

// Edits that change nothing that one transaction can see.
struct Equivalent {
    enum class On { both, sqlite, postgres };
    std::string_view statement;  // Empty: any.
    std::string_view part;  // The edit's name contains it; if the part ends with `, it ends so.
    std::string_view why;
    On on{On::both};

    bool holds_for(std::string_view name, std::string_view edit, bool postgres) const {
        if (on != On::both && postgres != (on == On::postgres)) return false;
        if (!statement.empty() && statement != name) return false;
        return part.back() == '`' ? edit.ends_with(part) : edit.find(part) != edit.npos;
    }
};

namespace because {
inline constexpr std::string_view history = "how many failures a job remembers; no fence";
inline constexpr std::string_view index = "for the index; the next condition says it too";
inline constexpr std::string_view two_sessions =
    "the inner and the outer conditions say the same, but for a lease that is renewed in between: "
    "interleaving_test, a_job_is_renewed_or_rescued";
inline constexpr std::string_view same_value = "both values are the same then";
inline constexpr std::string_view walk =
    "the walk may pass a partition without a due job of this queue and priority: `due` decides";
inline constexpr std::string_view steps = "the end of a long walk; queue_limits_test";
}  // namespace because

inline constexpr Equivalent equivalent_edits[] = {
    {"", "array_length(history)", because::history},
    {"", "json_valid(history)", because::history},
    {"", "jsonb_typeof(history)", because::history},
    {"", " `id IN (SELECT CAST(value AS INTEGER)", because::index},
    {"", " `id = ANY (ARRAY(SELECT split_part", because::index},
    {"add_to_file", "drop `state <> 'imported'`", because::index},
    {"list_waiting", "drop `state <> 'imported'`", because::index},
    {"list_stopped_reports", "drop `state <> 'imported'`", because::index},
    {"find_doubt_of_event", "drop `$1", "a comparison with NULL is not true"},
    {"rescue_jobs", ">= in `lease_until > $2`", "WHERE lets no such lease through"},
    {"rescue_jobs", "drop `lease_until <= $1", because::two_sessions, Equivalent::On::postgres},
    {"rescue_jobs", ">= in `lease_until > $2`, n", because::two_sessions, Equivalent::On::postgres},
    {"rescue_jobs",
     "drop `lease_until > $2`, number 3",
     because::two_sessions,
     Equivalent::On::postgres},
    {"rescue_jobs", "drop `(lease_until <= $1", because::two_sessions, Equivalent::On::postgres},
    {"insert_key_events_of_person", ">= in `e.part > 1000000`", because::same_value},
    {"advance_mark", ">= in `excluded.at > pawl_marks.at`", because::same_value},
    {"advance_mark", ">= in `excluded.key_id > pawl_marks.key_id`", because::same_value},
    {"pick_partitions", " `queue = $1`", because::walk},
    {"pick_partitions", " `state = 'ready'`", because::walk},
    {"pick_partitions", " `priority = $8`", because::walk},
    {"pick_partitions", " `queue = $1`, number 2", because::walk, Equivalent::On::sqlite},
    {"pick_partitions", " `state = 'ready'`, number 2", because::walk, Equivalent::On::sqlite},
    {"pick_partitions", " `priority = $8`, number 2", because::walk, Equivalent::On::sqlite},
    {"pick_partitions", " `later.", because::walk, Equivalent::On::postgres},
    {"pick_partitions", "partition IS NOT NULL`", because::walk},
    {"pick_partitions",
     "turns.partition IS NOT NULL`, number 2",
     because::walk,
     Equivalent::On::postgres},
    {"pick_partitions", " `step ", because::steps},
    {"pick_partitions", "drop `due`", because::steps},
};

inline bool is_equivalent(std::string_view statement, std::string_view edit, bool postgres) {
    return std::any_of(
        std::begin(equivalent_edits),
        std::end(equivalent_edits),
        [&](const auto& one) { return one.holds_for(statement, edit, postgres); }
    );
}

}  // namespace pawl::fences
