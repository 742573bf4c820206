#pragma once

#include <string_view>

namespace pawl::postgres {

// The first word of a statement in the text that would end or escape the transaction, or leave
// something in the session (behind PgBouncer the next transaction may have another one): COMMIT,
// SET, LISTEN... Empty if there is none. Looks past strings, comments and $$ bodies.
std::string_view forbidden_word(std::string_view text);

// The text changes what the rest of the transaction sees or may do, beyond rows: SET LOCAL,
// set_config(), a temporary table, a cursor. Others who shared the transaction would find it so.
// Words that only look so cost no more than the sharing.
bool needs_own_transaction(std::string_view text);

}  // namespace pawl::postgres
