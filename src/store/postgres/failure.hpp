#pragma once

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::postgres {

// The kind of an SQLSTATE (PostgreSQL's appendix A, error codes).
StoreError::Kind kind_of_state(std::string_view state);

// Whether the outcome of the statement or commit is unknown, as a pooler or a distributed database
// reports when it has lost the server behind it.
bool outcome_unknown(std::string_view state, bool at_commit);

// A hint for errors that a wrong setting causes; empty for others.
std::string_view hint_for_state(std::string_view state);

// PostgreSQL's fields (PG_DIAG_MESSAGE_*).
struct Message {
    std::string primary;
    std::string detail;
    std::string hint;
};

// One line without row data, which the texts of constraint and data errors contain: errors are
// logged, and logs go where data may not. PostgreSQL's own log has the full text.
std::string message_without_values(std::string_view state, Message message);

}  // namespace pawl::postgres
