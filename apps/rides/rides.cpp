#include "apps/rides/rides.hpp"

#include "rides/statements.hpp"

namespace rides {

pawl::Response problem(int status, std::string title, std::string detail) {
    struct Problem {
        std::string title;
        int status{};
        std::string detail;
        bool retry{};
    };
    auto response =
        pawl::respond(status, Problem{std::move(title), status, std::move(detail), false});
    response.content_type = "application/problem+json";
    return response;
}

void record(pawl::Tx& tx, const Audit& audit, std::int64_t user, const std::string& origin) {
    pawl::send(
        tx,
        sql::insert_audit,
        audit.action,
        tx.now(),
        audit.data,
        origin,
        audit.resource_id,
        audit.resource_type,
        user
    );
}

User user_of(pawl::Tx& tx, const pawl::Principal& principal) {
    return pawl::query_one<User>(tx, sql::find_user, principal.account);
}

}  // namespace rides
