#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace pawl {

// An error of the database: thrown by every function that uses one, caught in one place per loop.
// Has functions to ask instead of subclasses (libpqxx 8 explains why in its except.hxx).
class StoreError : public std::exception {
public:
    enum class Kind {
        unavailable,  // The database can't be reached or opened, or its disk fails.
        full,         // The disk is full.
        read_only,
        busy,    // Too many works wait, or a lock was not obtained in time.
        locked,  // Another transaction holds the row, and Session::set_lock_timeout() has passed.
        contention,  // Serialization failure or deadlock, even after the engine's reruns.
        deadline,    // The phase took longer than its deadline.
        // A unique, foreign key, check or not-null constraint: a fault of the phase or its data.
        constraint,
        statement,  // Wrong SQL, wrong type, wrong number of rows: a bug in the program.
        refused,    // Not allowed in a phase: COMMIT, ATTACH, a statement after a failed one.
        fenced      // Session::fence() touched no row: another attempt has the row.
    };
    // in_doubt: COMMIT was sent, no answer came.
    enum class Effect { none, rolled_back, in_doubt };

    StoreError(Kind kind, Effect effect, std::string_view statement, std::string text);

    Kind kind() const noexcept { return kind_; }
    Effect effect() const noexcept { return effect_; }
    // Whether the same work may be run again unchanged. Never true when in doubt.
    bool safe_to_repeat() const noexcept;
    // Caused by the environment (503, try again), not by the program or its data (500).
    bool transient() const noexcept;
    // Name in the .sql file, for example "take_over"; empty: none. For operators, as what() is.
    std::string_view statement() const noexcept { return statement_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    Kind kind_;
    Effect effect_;
    std::string statement_;
    std::string text_;
};

}  // namespace pawl
