#include "src/store/postgres/durability.hpp"

#include "store/postgres/session.hpp"

#include <postgresql/libpq-fe.h>

#include <string>
#include <string_view>

namespace pawl::postgres {

namespace {

// The columns of the query are named after the settings.
std::string settings_that_are_off(const pg_result* answer) {
    std::string off;
    for (int i = 0; i < PQnfields(answer); ++i)
        if (std::string_view{PQgetvalue(answer, 0, i)} == "off")
            off.append(off.empty() ? "" : ", ").append(PQfname(answer, i)).append(" = off");
    return off;
}

}  // namespace

std::optional<base::Warning> check_durability(
    Connection& connection, std::chrono::milliseconds longest
) {
    std::string off;
    connection.set_deadline(longest);
    try {
        connection.queue(sql::postgres::durability, {}, Connection::Use::plain);
        off = settings_that_are_off(connection.flush().get());
    } catch (const StoreError&) {
        // A later request reports the error.
    }
    connection.clear_deadline();
    if (off.empty()) return std::nullopt;
    return base::Warning{
        "database_not_durable",
        "PAWL0009",
        "the database says " + off +
            ": what was committed and answered is gone if it, or its machine, goes down, and a "
            "card may be charged twice. Set it to on, in postgresql.conf or for the database or "
            "the role, and restart"};
}

}  // namespace pawl::postgres
