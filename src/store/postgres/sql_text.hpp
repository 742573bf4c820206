#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pawl::postgres {

// The first word in the text that would end or escape the transaction, or change the session
// (behind PgBouncer the next transaction may get another one): COMMIT, SET, LISTEN... Empty: none.
// Skips strings, comments and $$ bodies.
std::string_view forbidden_word(std::string_view text);

// The first statement of a script, with its semicolon. Semicolons in strings, comments, brackets
// and $$ bodies end no statement.
std::string_view first_statement(std::string_view script);

// Whether the text changes what the rest of the transaction sees or may do, beyond rows: SET LOCAL,
// set_config(), a temporary table, a cursor. Such statements must not run in a shared transaction.
// A false positive only costs the sharing.
bool needs_own_transaction(std::string_view text);

// Makes an UPDATE or INSERT that touches no row raise: division by zero is the one error that an
// expression can raise by itself (research/prototype.md, trap 1). So no statement is written twice.
std::string fence_text(std::string_view text);

// Makes one statement of several whose rows are not needed. Their parameters stand in the same
// order; they see the same rows and run in any order. At most one is a fence.
struct StatementPart {
    std::string_view text;
    bool fence{};
};
std::string combined_text(std::span<const StatementPart> parts);

}  // namespace pawl::postgres
