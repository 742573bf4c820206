#pragma once

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::postgres {

// What an SQLSTATE means to Pawl (PostgreSQL's appendix A, error codes).
StoreError::Kind kind_of_state(std::string_view state);

// Nobody knows whether the statement, or the transaction that it commits, took effect: what a
// pooler or a distributed database says when it lost the server behind it.
bool leaves_end_open(std::string_view state, bool at_commit);

// A hint for the errors that a wrong setting makes; empty for others.
std::string_view hint_for_state(std::string_view state);

// As PostgreSQL words them (PG_DIAG_MESSAGE_*).
struct Message {
    std::string primary;
    std::string detail;
    std::string hint;
};

// In one line, without what a broken constraint or a value that does not fit tells of a row: an
// error is logged, and a log goes where the data may not. PostgreSQL's own log has all of it.
std::string message_without_values(std::string_view state, Message message);

}  // namespace pawl::postgres
