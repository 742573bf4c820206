#pragma once

#include "src/ops/bisect.hpp"
#include "store/postgres/session.hpp"
#include "store/statements.hpp"
#include "tests/postgres/interleaving.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

// The statements that the engine and the reaper send to PostgreSQL in a transaction, one by one,
// and how they use the answers.
namespace pawl::interleaving {

using Steps = std::vector<Step>;

inline constexpr auto now = "2027-01-15 08:00:00+00";
inline constexpr auto lease_over = "2027-01-15 07:59:59+00";
inline constexpr auto lease_runs = "2027-01-15 08:00:20+00";
inline constexpr auto renewed_lease = "2027-01-15 08:00:50+00";
inline constexpr auto lease_bound = "2027-01-15 08:01:00+00";
inline constexpr auto expiry = "2027-01-18 08:00:00+00";

// The lease of the session's attempt: different for each, to identify it.
inline std::string lease_of(const Session& session) {
    return session.name() == "first" ? "2027-01-15 08:00:30+00" : "2027-01-15 08:00:31+00";
}

inline Statement of(const Sql& sql, std::vector<Text> values) {
    return {std::string{sql.name}, std::string{sql.postgres}, std::move(values), {}, false};
}

// The store's own text: TheFence.is_that_of_the_store.
inline std::string fence_text(const Sql& sql) {
    return "WITH fenced AS (" + std::string{sql.postgres} +
           " RETURNING 1) SELECT 1 / (EXISTS (SELECT FROM fenced))::int";
}

inline Statement fence(const Sql& sql, std::vector<Text> values) {
    return {std::string{sql.name}, fence_text(sql), std::move(values), {}, false};
}

inline Steps operator+(Steps left, const Steps& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

// What a session found of the key, as core::decide_claim sees it.
struct Found {
    enum class As { missing, torn, expired, finished, busy, open };
    As as{As::missing};
    Text id{};
    Text attempt{};
    Text point{};
};
using As = Found::As;

inline Found found_by(const Session& session, const std::string& name) {
    const auto* told = session.told(name);
    if (told == nullptr || told->rows.empty()) return {};
    const auto& row = told->rows[0];
    Found found{As::open, row[0], row[14], row[16]};
    const auto& state = row[2];
    const auto& status = row[13];
    const auto& lease = row[15];
    if (state == "expired")
        found.as = As::expired;
    else if (!status)
        found.as = As::torn;
    else if (status == "finished")
        found.as = As::finished;
    else if (lease && *lease > now)
        found.as = As::busy;
    return found;
}

inline Found found_by(const Session& session) {
    return found_by(session, session.told("find_key") != nullptr ? "find_key" : "look");
}

// Preallocated.
inline std::string id_of(const Session& session) {
    return session.name() == "first" ? "1001" : "1002";
}

// The id under which the session made the key.
inline Text made_by(const Session& session) {
    if (session.told("claim_key_under_id") != nullptr && !session.lost_claim())
        return id_of(session);
    const auto fresh = session.first_value("find_claimed_id");
    return fresh ? fresh : session.first_value("claim_expired_key");
}

inline bool took_over(const Session& session) {
    return session.changed("take_over") == 1;
}

inline bool won(const Session& session) {
    return session.committed("commit") && (made_by(session) || took_over(session));
}

struct EngineSteps {
    // What the claiming process knows of the key before.
    enum class Knows { nothing, perhaps, the_key };
    enum class Resumes { at_a_call, at_a_phase };

    std::string isolation{};
    bool patient{false};             // A claim gives up behind a lock, as the engine does.
    bool shared{false};              // What the application writes includes a row that all write.
    bool ahead{false};               // New keys are claimed under preallocated ids.
    bool shares{false};              // Sessions begin in shared transactions: see beside().
    std::string kept_until{expiry};  // The expiry of a finished key.
    Text key{};                      // The id of the existing key.

    // `limited`: with a lock timeout.
    Step begin(bool limited = false) const {
        const auto text = "BEGIN ISOLATION LEVEL " + isolation + " READ WRITE";
        return [text, limited](const Session& s) {
            auto statement =
                of(sql::postgres::begin_work,
                   {"5000",
                    s.shares() ? "20"
                    : limited  ? "50"
                               : "0"});
            statement.name = "begin";
            statement.before = text;
            return std::optional{statement};
        };
    }
    static Step commit(const std::string& name = "commit") {
        return [name](const Session&) { return Statement{name, "COMMIT", {}, {}, false}; };
    }
    // The application's write: a row, and, if shared, cents on one account.
    Statement write(const Session& session, const std::string& name) const {
        const std::string paid =
            shared ? "WITH paid AS (UPDATE accounts SET cents = cents + 1 WHERE id = 1) " : "";
        return {
            name,
            paid + "INSERT INTO writes (session) VALUES ($1)",
            {session.name()},
            "SET LOCAL lock_timeout = 0",
            false};
    }
    static Statement insert_key(const Session& s) {
        const auto* generation = made_by(s) == s.first_value("claim_expired_key") ? "1" : "0";
        return of(
            sql::insert_key,
            {made_by(s),   "h",         "t", "a",     "k",  "book_ride",  "POST",
             "/rides",     "::1",       "f", "1",     "{}", lease_of(s),  "ride_created",
             "{}",         "c",         now, "false", now,  std::nullopt, generation,
             std::nullopt, std::nullopt}
        );
    }
    static Statement move_key(const Session& s, const Text& id, const Text& attempt) {
        return fence(
            sql::move_key,
            {id,
             attempt,
             "ride_created",
             "charge_created",
             "{}",
             lease_of(s),
             "c",
             now,
             "false",
             now,
             std::nullopt}
        );
    }
    Statement patiently(Statement statement) const {
        statement.gives_up = patient;
        return statement;
    }

    // The same in a transaction shared with another phase, which comes before or after. Its lock
    // timeout is short, so that it breaks up behind a lock.
    enum class Neighbour { before, behind };
    Steps beside(Neighbour where, const Steps& steps) const {
        Steps all;
        for (const auto& step : steps) {
            const auto own = [step](const Session& s) {
                auto statement = step(s);
                if (!statement || !s.shares()) return statement;
                statement->gives_up = s.told("begin") != nullptr;
                if (!statement->before.starts_with("BEGIN")) statement->before.clear();
                return statement;
            };
            all.push_back([this, where, own](const Session& s) -> std::optional<Statement> {
                if (!s.shares() || s.told("begin") == nullptr) return std::nullopt;
                if (s.told("neighbour") != nullptr) return std::nullopt;
                const auto next = own(s);
                if (where == Neighbour::behind && (!next || !next->name.starts_with("commit")))
                    return std::nullopt;
                auto neighbour = write(s, "neighbour");
                neighbour.values = {s.name() + "'s neighbour"};
                neighbour.before = "SAVEPOINT work";
                neighbour.gives_up = true;
                return neighbour;
            });
            all.emplace_back(own);
        }
        return all;
    }

    // Attempt::claim and run_claim.
    Steps claim(Knows knows, Resumes resumes = Resumes::at_a_phase) const {
        const auto begun = begin(patient);
        return {
            [knows](const Session&) -> std::optional<Statement> {
                if (knows != Knows::perhaps) return std::nullopt;
                auto look = of(sql::find_key, {"h"});
                look.name = "look";
                return look;
            },
            [begun](const Session& s) -> std::optional<Statement> {
                const auto as = found_by(s, "look").as;
                return as == As::busy || as == As::finished ? std::nullopt : begun(s);
            },
            [this, knows](const Session& s) -> std::optional<Statement> {
                const bool seen = knows == Knows::the_key || found_by(s, "look").id;
                if (!seen || s.told("begin") == nullptr) return std::nullopt;
                return patiently(of(sql::find_key, {"h"}));
            },
            [this](const Session& s) -> std::optional<Statement> {
                if (s.told("begin") == nullptr || found_by(s).id) return std::nullopt;
                if (ahead && !s.lost_claim())
                    return patiently(fence(sql::postgres::claim_key_under_id, {id_of(s), "h"}));
                return patiently(of(sql::claim_key, {"h"}));
            },
            [](const Session& s) -> std::optional<Statement> {
                if (s.changed("claim_key") != 1) return std::nullopt;
                return of(sql::find_claimed_id, {"h"});
            },
            [](const Session& s) -> std::optional<Statement> {
                if (s.told("claim_key") == nullptr || made_by(s)) return std::nullopt;
                return of(sql::find_key, {"h"});
            },
            [this](const Session& s) { return take(s); },
            [this, resumes](const Session& s) -> std::optional<Statement> {
                if (!made_by(s) && (!took_over(s) || resumes == Resumes::at_a_call))
                    return std::nullopt;
                return write(s, "write");
            },
            [](const Session& s) -> std::optional<Statement> {
                if (s.told("write") == nullptr) return std::nullopt;
                return made_by(s) ? insert_key(s) : move_key(s, found_by(s).id, attempt_of(s));
            },
            [](const Session& s) -> std::optional<Statement> {
                if (s.told("begin") == nullptr) return std::nullopt;
                return commit()(s);
            }};
    }
    std::optional<Statement> take(const Session& s) const {
        if (s.told("begin") == nullptr) return std::nullopt;
        const auto found = found_by(s);
        if (found.as == As::open)
            return patiently(of(
                sql::take_over,
                {found.id, found.attempt, now, lease_of(s), lease_bound, found.point, std::nullopt}
            ));
        if (found.as == As::expired) return patiently(of(sql::claim_expired_key, {"h"}));
        return std::nullopt;
    }
    // The one after the attempt that it took over, or the first.
    static std::string attempt_of(const Session& s) {
        return took_over(s) ? std::to_string(std::stoi(*found_by(s).attempt) + 1) : "1";
    }

    enum class Keep { and_finish, and_move };
    // Attempt::run_keep, by the session that holds the key; `if_it` may skip it.
    Steps keep(
        Keep how, bool (*if_it)(const Session&) = [](const Session&) { return true; }
    ) const {
        const auto begun = begin();
        const Steps all{
            begun,
            [this](const Session& s) { return write(s, "write_kept"); },
            [this, how](const Session& s) -> std::optional<Statement> {
                if (how == Keep::and_move) return move_key(s, key, attempt_of(s));
                return fence(
                    sql::finish_key,
                    {key,
                     attempt_of(s),
                     "ride_created",
                     "201",
                     "t",
                     "[]",
                     s.name(),
                     now,
                     kept_until}
                );
            },
            commit("commit_kept")};
        Steps some;
        for (const auto& step : all)
            some.push_back([step, if_it](const Session& s) {
                return if_it(s) ? step(s) : std::nullopt;
            });
        return some;
    }
    // For the first attempt.
    Steps alone(Statement (*statement)(const Text& key)) const {
        return {begin(), [this, statement](const Session&) { return statement(key); }, commit()};
    }
    static Statement renewal(const Text& key) {
        return of(sql::renew_lease, {key, "1", "ride_created", renewed_lease});
    }
    static Statement release(const Text& key) {
        return of(sql::fail_attempt, {key, "1", "ride_created", "went wrong", now});
    }
    static Statement give_back_moved(const Text& key) {
        return of(sql::fail_attempt, {key, "1", "charge_created", "went wrong", now});
    }
    // Reaper::run_once: removes what it has found, all at once or by halves.
    Steps reap(const std::string& limit = "10") const {
        Steps all{
            begin(), [limit](const Session&) {
                return of(sql::find_keys_to_expire, {now, limit, "1970-01-01T00:00:00.000Z", "0"});
            }};
        for (int n = 0; n < reaper_tries_max; ++n) {
            all.emplace_back([](const Session& s) { return expire_next(s); });
            all.emplace_back([](const Session& s) { return delete_next(s); });
            all.emplace_back([](const Session& s) { return undo_last(s); });
        }
        all.push_back(commit());
        return all;
    }
    static constexpr int reaper_tries_max = 5;  // For three keys.
    using KeyRows = std::span<const std::vector<Text>>;
    static KeyRows keys_found(const Session& s) {
        const auto* found = s.told("find_keys_to_expire");
        return found == nullptr ? KeyRows{} : KeyRows{found->rows};
    }
    // The name for what it tries at once: for all, the statement's own, "delete_keys".
    static std::string name_of(const std::string& what, const Session& s, KeyRows some) {
        if (some.size() == keys_found(s).size()) return what;
        return what + " of " + *some.front()[0] + " to " + *some.back()[0];
    }
    static bool removed(const Session& s, KeyRows some) {
        const auto* told = s.told(name_of("delete_keys", s, some));
        return told != nullptr && told->state.empty() &&
               told->changed == static_cast<int>(some.size());
    }
    // What the reaper tries next; empty: that was all.
    static KeyRows next_try(const Session& s, const std::string& what) {
        KeyRows next;
        auto remove_all = [&](KeyRows some) {
            if (next.empty() && s.told(name_of(what, s, some)) == nullptr) next = some;
            return !next.empty() || removed(s, some);
        };
        (void)ops::bisect(keys_found(s), remove_all);
        return next;
    }
    static std::string batch_of(KeyRows some) {
        std::string list;
        for (const auto& row : some)
            list += std::string{list.empty() ? "" : ","} + R"({"id":)" + *row[0] +
                    R"(,"outcome":)" + *row[1] + "}";
        return R"({"keys":[)" + list + "]}";
    }
    static std::optional<Statement> expire_next(const Session& s) {
        const auto some = next_try(s, "expire_keys");
        if (some.empty()) return std::nullopt;
        auto statement = of(sql::expire_keys, {batch_of(some), now});
        statement.name = name_of("expire_keys", s, some);
        statement.before = "SAVEPOINT inner_savepoint";
        return statement;
    }
    static std::optional<Statement> delete_next(const Session& s) {
        const auto some = next_try(s, "delete_keys");
        if (some.empty() || s.told(name_of("expire_keys", s, some)) == nullptr) return std::nullopt;
        auto statement = of(sql::delete_keys, {batch_of(some)});
        statement.name = name_of("delete_keys", s, some);
        statement.undo = "ROLLBACK TO inner_savepoint";
        return statement;
    }
    // Rolls back what no error has rolled back.
    static std::optional<Statement> undo_last(const Session& s) {
        const auto some = next_try(s, "undo");
        const auto* told = some.empty() ? nullptr : s.told(name_of("delete_keys", s, some));
        if (told == nullptr || removed(s, some) || !told->state.empty()) return std::nullopt;
        return Statement{name_of("undo", s, some), "ROLLBACK TO inner_savepoint", {}, {}, false};
    }
    Steps forget() const {
        return {
            begin(),
            [](const Session&) {
                return of(sql::delete_tombstones, {now, "10"});
            },
            commit()};
    }
};

}  // namespace pawl::interleaving
