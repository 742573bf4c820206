#include "src/store/postgres/durability.hpp"

#include "src/store/durability.hpp"
#include "store/doctor.hpp"

#include <postgresql/libpq-fe.h>

#include <string>

namespace pawl::postgres {

std::optional<base::Warning> check_durability(
    Connection& connection, std::chrono::milliseconds longest
) {
    std::string off;
    connection.set_deadline(longest);
    try {
        connection.queue(sql::doctor::durability, {}, Connection::Use::plain);
        off = PQgetvalue(connection.flush().get(), 0, 0);
    } catch (const StoreError&) {
        // A later request reports the error.
    }
    connection.clear_deadline();
    if (off.empty()) return std::nullopt;
    return base::Warning{"database_not_durable", "PAWL0009", store::text_of_settings_off(off)};
}

}  // namespace pawl::postgres
