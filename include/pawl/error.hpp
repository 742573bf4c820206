#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace pawl {

// Trouble of the database: thrown by every function that talks to one, caught in one place per
// loop. It answers questions instead of forming a tree (libpqxx 8 explains why in its except.hxx).
class StoreError : public std::exception {
public:
    enum class Kind {
        unavailable,  // The database cannot be reached or opened, or its disk fails.
        full,         // No space is left on the disk.
        read_only,
        busy,        // Too much waits already, or a lock was not had in time.
        locked,      // Another transaction holds the row; Session::lock_patience() is over.
        contention,  // Serialization failure or deadlock, after the engine's own repeats.
        deadline,    // The phase took longer than its deadline.
        constraint,  // A unique, foreign key, check or not-null constraint: a fault of the phase or
                     // its data.
        statement,   // Wrong SQL, wrong type, wrong number of rows: a bug in the program.
        refused,     // What a phase must not do: COMMIT, ATTACH, a statement after a failed one.
        fenced       // Session::fence() touched no row: whoever wrote it has the row no more.
    };
    enum class Effect {
        none,
        rolled_back,
        in_doubt
    };  // in_doubt: COMMIT was sent, no answer came.

    StoreError(Kind kind, Effect effect, std::string_view statement, std::string text);

    Kind kind() const noexcept { return kind_; }
    Effect effect() const noexcept { return effect_; }
    // The same work may be tried again as it is. Never true when in doubt.
    bool safe_to_repeat() const noexcept;
    // Of the environment (503, try again), as opposed to a fault of the program or its data (500).
    bool passing() const noexcept;
    // Name in the .sql file, e.g. "take_over"; empty if there was none. For operators, as what()
    // is.
    std::string_view statement() const noexcept { return statement_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    Kind kind_;
    Effect effect_;
    std::string statement_;
    std::string text_;
};

}  // namespace pawl
