#include "tests/simulation/sql_mutants.hpp"

#include "store/statements.hpp"
#include "tests/simulation/planted.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace pawl::simulation {

const std::vector<SqlMutant>& sql_mutants() {
    static const std::vector<SqlMutant> all{
        // Together with the decision of core::decide_claim, which agrees.
        {"lease_is_always_over",
         "take_over",
         "AND (lease_until IS NULL OR lease_until <= $3 OR lease_until > $5)",
         "AND $5 <> ''"},
        // The decision, the write and the completer's query.
        {"hold_is_ignored", "find_key", "k.held_at IS NOT NULL", "0"},
        {"hold_is_ignored", "find_key_by_id", "k.held_at IS NOT NULL", "0"},
        {"hold_is_ignored", "find_completable", "AND held_at IS NULL", ""},
        {"hold_is_ignored", "take_over", "AND held_at IS NULL", ""},
        {"attempt_does_not_grow", "take_over", "attempt = attempt + 1", "attempt = attempt"},
        {"unlock_without_attempt", "fail_attempt", "AND attempt = $2", "AND $2 > 0"},
        // F4: an outage becomes the final answer.
        {"outage_is_the_answer",
         "fail_attempt",
         "SET lease_until = NULL, error = $4",
         "SET lease_until = NULL, status = 'finished', recovery_point = 'finished', "
         "response_status = 500, response_type = 'text/plain', response_headers = '[]', "
         "response_body = '', finished_at = $5, expires_at = '9999', error = $4"},
        // F6: the reaper removes open keys, or too early, or leaves no registry row.
        {"reaper_takes_what_is_open",
         "find_keys_to_expire",
         "WHERE expires_at <= $1",
         "WHERE coalesce(expires_at, created_at) <= $1"},
        {"reaper_takes_what_is_open",
         "find_keys_to_expire",
         "AND (expires_at, id) > ($3, $4)",
         "AND (coalesce(expires_at, created_at), id) > ($3, $4)"},
        {"reaper_takes_what_is_open",
         "find_keys_to_expire",
         "response_headers, expires_at",
         "response_headers, coalesce(expires_at, created_at)"},
        {"reaper_takes_what_is_open", "delete_key", "AND status = 'finished'", ""},
        {"reaper_takes_what_is_open", "delete_keys", "AND status = 'finished'", ""},
        {"reaper_is_early",
         "find_keys_to_expire",
         "WHERE expires_at <= $1",
         "WHERE finished_at <= $1"},
        {"registry_row_is_deleted",
         "expire_key",
         "",
         "DELETE FROM pawl_key_registry WHERE id = $1 AND coalesce($2, $3, $4, 1) IS NOT NULL"},
        {"registry_row_is_deleted",
         "expire_keys",
         "",
         "DELETE FROM pawl_key_registry WHERE id IN (SELECT value ->> '$.id' FROM json_each($1, "
         "'$.keys')) AND $2 IS NOT NULL"},
        // The mistake of the original article: a job with a lower id may belong to another batch,
        // and be unsent.
        {"deletes_a_range",
         "delete_staged_jobs",
         "id IN (SELECT value FROM json_each($1))",
         "id <= (SELECT max(value) FROM json_each($1))"},
        {"rescues_the_living", "rescue_jobs", "lease_until <= $1", "lease_until <= $2"},
        {"merge_keeps_the_letter", "delete_dead_jobs", "WHERE id IN", "WHERE id < 0 AND id IN"},
        {"cancel_keeps_the_job", "delete_cancelled_jobs", "WHERE id IN", "WHERE id < 0 AND id IN"},
        {"cancel_loses_the_job", "copy_jobs_to_dead", "WHERE id IN", "WHERE id < 0 AND id IN"},
        {"no_audit",
         "insert_audit",
         "VALUES ($1, $2, $3, $4, $5)",
         "SELECT $1, $2, $3, $4, $5 WHERE 0"},
        {"job_is_tried_before_its_time", "fail_job", "run_at = $5", "run_at = min($4, $5)"},
        {"failure_is_not_counted", "fail_job", "failures = failures + 1", "failures = failures"},
        // Servers.
        {"released_too_early", "delete_silent_server", "AND beats = $2", "AND $2 > 0"},
        {"call_is_ended_with_its_server", "end_leases_of_server", "AND NOT calling", ""},
        {"keys_are_not_ended_with_their_server",
         "end_leases_of_server",
         "WHERE status = 'open'",
         "WHERE status = 'attention'"},
        {"leases_of_all_servers_end", "end_leases_of_server", "AND server_id = $1", "AND $1 > 0"},
        {"jobs_stay_with_a_dead_server", "rescue_jobs_of_server", "AND state = 'running'", "AND 0"},
        {"staged_jobs_stay_with_a_dead_server",
         "release_staged_jobs_of_server",
         "AND claimed_until IS NOT NULL",
         "AND 0"},
        // Queues with limits.
        {"retries_are_not_counted",
         "count_limited_jobs",
         "AND partition IS NOT NULL",
         "AND partition IS NOT NULL AND failures = 0"},
        // Named leases.
        {"fence_lets_all_pass",
         "record_fencing_token",
         "WHERE pawl_fencing_tokens.epoch <= excluded.epoch",
         "WHERE 1"},
        {"epoch_does_not_grow", "acquire_lease", "epoch = epoch + 1", "epoch = epoch"},
        {"another_jid_each_time",
         "claim_staged_jobs",
         "RETURNING id, jid,",
         "RETURNING id, lower(hex(claimed_until)),"},
    };
    return all;
}

namespace {

// The statement of the chosen mutant. Texts do not move: the connection caches a prepared statement
// by its text's address.
const Sql& mutated(const Sql& statement) {
    // By mutant and statement.
    static std::map<std::pair<std::string, std::string_view>, std::pair<std::string, Sql>> known;
    const auto chosen = chosen_fault();
    const auto [at, fresh] = known.try_emplace({chosen, statement.name});
    auto& [text, sql] = at->second;
    if (!fresh) return sql.name.empty() ? statement : sql;
    for (const auto& mutant : sql_mutants()) {
        if (mutant.name != chosen || mutant.statement != statement.name) continue;
        if (text.empty()) text = statement.sqlite;
        const auto part = mutant.part.empty() ? std::string_view{text} : mutant.part;
        const auto place = text.find(part);
        if (place == std::string::npos)
            throw std::logic_error{chosen + " has no such part in " + std::string{statement.name}};
        text.replace(place, part.size(), mutant.becomes);
    }
    if (text.empty()) return statement;
    sql = {statement.name, text, {}};
    return sql;
}

}  // namespace

bool sql_is_mutated() {
    const auto chosen = chosen_fault();
    return !chosen.empty() &&
           std::any_of(sql_mutants().begin(), sql_mutants().end(), [&](const auto& mutant) {
               return mutant.name == chosen;
           });
}

std::int64_t MutatedSession::run(
    const Sql& statement,
    std::span<const store::Value> parameters,
    detail::FunctionRef<void(const store::Row&)> each
) {
    return inner_.run(mutated(statement), parameters, each);
}

void MutatedSession::send(const Sql& statement, std::span<const store::Value> parameters) {
    inner_.send(mutated(statement), parameters);
}

void MutatedSession::fence(const Sql& statement, std::span<const store::Value> parameters) {
    inner_.fence(mutated(statement), parameters);
}

}  // namespace pawl::simulation
