#include "apps/rides/trips.hpp"

#include "rides/statements.hpp"

#include <stdexcept>
#include <variant>

namespace rides {

pawl::Response ShowTrip::answer(pawl::Snapshot& read, const pawl::Asked<Request>& at) {
    const auto user = pawl::query_maybe<User>(read, sql::find_user, at.principal.account);
    const auto trip = user ? pawl::query_maybe<Trip>(read, sql::find_trip, at.request.id, user->id)
                           : std::nullopt;
    if (!trip) return problem(404, "There is no such trip", "");
    return pawl::respond(200, *trip);
}

// A refusal says that the charge was voided or refunded before.
pawl::JobResult PayBackWorker::work(pawl::Call& call, const pawl::Job<PayBack>& job) {
    const auto end = stripe_.pay_back(call, job.args.charge);
    std::visit(
        [](const auto& how) {
            if constexpr (requires { how.why; }) throw std::runtime_error{how.why};
        },
        end.value()
    );
    return pawl::done;
}

}  // namespace rides
