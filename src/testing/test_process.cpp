#include "src/testing/test_process.hpp"

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/ops/run.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <future>
#include <stdexcept>

namespace pawl::testing {

using namespace std::chrono_literals;

TestProcess::TestProcess(
    TestDatabase& database, store::Store& store, pawl::detail::ErasedOperation form
)
    : engine_{
          {store, base::system_clock(), base::system_random()},
          {},
          engine::open_installation(
              database.database().store(), base::system_clock(), base::system_random(), ""
          )},
      form_{engine_.add(std::move(form))} {}

std::optional<RunResult> TestProcess::run(
    const pawl::detail::ErasedValue& request,
    const AskedBy& by,
    const std::function<bool()>& is_dead
) {
    auto ended = std::make_shared<std::promise<RunResult>>();  // May outlive a late answer.
    auto result = ended->get_future();
    ops::run(engine_, form_, by.principal, by.key, request, [ended](RunResult end) {
        ended->set_value(std::move(end));
    });
    const auto until = base::system_clock().steady() + 30s;
    while (result.wait_for(1ms) != std::future_status::ready) {
        if (is_dead()) return std::nullopt;
        if (base::system_clock().steady() > until)
            throw std::logic_error{
                "pawl: " + std::string{form_.name} + " did not end within 30 s: does a call wait?"};
    }
    return result.get();
}

void end_leases(store::Store& store) {
    store::write_now(store, [](store::Session& session) {
        const auto now = session.now();
        pawl::detail::execute_statement(session, sql::end_previous_server_leases, now, now - 1h);
    });
}

namespace detail {

RunResult run(
    TestDatabase& database, ErasedOperation form, const ErasedValue& request, const AskedBy& by
) {
    return *TestProcess{database, database.database().store(), std::move(form)}.run(request, by);
}

}  // namespace detail
}  // namespace pawl::testing
