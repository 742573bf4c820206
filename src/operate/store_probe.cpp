#include "src/operate/store_probe.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/ops/rounds.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::operate {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// A store with too much to do is not down: it refuses what it can't take.
std::optional<std::string> why_down(const std::exception_ptr& failed) {
    if (!failed) return std::nullopt;
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        if (error.kind() == StoreError::Kind::busy) return std::nullopt;
        return error.what();
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

struct StoreProbe::State {
    base::Clock& clock;
    OnWrite on_write;
    mutable std::mutex mutex;
    std::optional<SteadyTime> sent;  // The write under way.
    std::optional<SteadyTime> down_since;
    std::string why;

    void went_down(std::string reason) {
        why = std::move(reason);
        if (down_since) return;
        down_since = clock.steady();
        log::error("store_down", {{"detail", why}});
    }
    void came_up() {
        if (!down_since) return;
        const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(
            clock.steady() - *std::exchange(down_since, std::nullopt)
        );
        log::info("store_up", {{"down_ms", lasted.count()}});
    }
    void written(const std::exception_ptr& failed) {
        const std::lock_guard lock{mutex};
        const auto took = clock.steady() - *std::exchange(sent, std::nullopt);
        if (auto reason = why_down(failed)) return went_down(std::move(*reason));
        if (!failed) on_write(took);
        came_up();
    }
};

StoreProbe::StoreProbe(store::Store& store, base::Clock& clock, OnWrite on_write)
    : state_{new State{clock, std::move(on_write), {}, {}, {}, {}}}, store_{store} {}

void StoreProbe::run_once() {
    const auto server = store_.server();
    if (!server) return;  // The service has not started, or has stopped.
    {
        const std::lock_guard lock{state_->mutex};
        const auto now = state_->clock.steady();
        if (state_->sent) {
            if (now - *state_->sent > answer_max)
                state_->went_down(
                    "a write got no answer for " + std::to_string(answer_max.count()) + " ms"
                );
            return;
        }
        state_->sent = now;
    }
    store_.write(store::work(
        [id = *server, &store = store_](store::Session& session) {
            detail::execute_statement(session, sql::beat, id, session.now(), store.session_lock());
        },
        [state = state_](const std::exception_ptr& failed) { state->written(failed); }
    ));
}

void StoreProbe::run(const std::stop_token& stop) {
    ops::rounds(stop, state_->clock, every, "probe", [this](TimePoint) {
        run_once();
        return false;
    });
}

std::optional<std::string> StoreProbe::down() const {
    const std::lock_guard lock{state_->mutex};
    return state_->down_since ? std::optional{state_->why} : std::nullopt;
}

}  // namespace pawl::operate
