#include "apps/rides/rides.hpp"

#include "rides/statements.hpp"

namespace rides {

namespace {

struct Problem {
    std::string title;
    int status{};
    std::string detail;
    bool retry{};
};

pawl::Response respond_with(const Problem& problem) {
    auto response = pawl::respond(problem.status, problem);
    response.content_type = "application/problem+json";
    return response;
}

}  // namespace

pawl::Response problem(int status, std::string title, std::string detail) {
    return respond_with({std::move(title), status, std::move(detail), false});
}

pawl::Response passing_problem(int status, std::string title, std::string detail) {
    auto response = respond_with({std::move(title), status, std::move(detail), true});
    response.headers.push_back({"Retry-After", "1"});
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
