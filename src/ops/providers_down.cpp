#include "src/ops/providers_down.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/base/error_text.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace pawl::ops {

namespace {

using namespace std::chrono_literals;

constexpr auto every = 1s;

// As list_providers reads it.
struct Down {
    std::string provider;
    TimePoint since;
    std::string error;
};
struct List {
    std::vector<Down> down;
};

std::string text_of(const std::vector<ProviderHealth>& found) {
    if (found.empty()) return {};
    List list;
    for (const auto& health : found)
        list.down.push_back(
            {base::sanitized_error(health.target),
             health.down_since.value(),
             base::sanitized_error(health.last_error)}
        );
    return to_json(list);
}

}  // namespace

void ProvidersDown::run_once() {
    const auto server = engine_.store().server();
    auto now_down = text_of(engine_.providers_down());
    // A new row has none.
    if (server != server_) written_.clear();
    server_ = server;
    if (!server || now_down == written_) return;
    store::write_now(engine_.store(), [&](store::Session& session) {
        return detail::execute_statement(
            session,
            sql::set_providers_down,
            *server,
            now_down.empty() ? std::optional<std::string>{} : std::optional{now_down}
        );
    });
    written_ = std::move(now_down);
}

void ProvidersDown::run(const std::stop_token& stop) {
    rounds(stop, engine_.clock(), every, "providers", [this](TimePoint) {
        run_once();
        return false;
    });
}

}  // namespace pawl::ops
