#include "src/ops/pauses.hpp"

#include <pawl/detail/rows.hpp>

#include "src/queue/audit.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

namespace pawl::ops {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

Pauses::Pauses(store::Store& store, base::Clock& clock, std::chrono::milliseconds remembered)
    : store_{store}, clock_{clock}, remembered_{remembered} {}

bool Pauses::paused(const std::string& queue) {
    const auto now = clock_.steady();
    {
        const std::lock_guard lock{mutex_};
        const auto known = known_.find(queue);
        if (known != known_.end() && now < known->second.until) return known->second.paused;
    }
    const bool paused = store::read_now(store_, [&](store::Session& session) {
        bool found = false;
        run_statement(
            session, sql::find_pause, [&](const Row&) { found = true; }, queue
        );
        return found;
    });
    const std::lock_guard lock{mutex_};
    known_[queue] = {paused, now + remembered_};
    return paused;
}

std::vector<Pause> Pauses::list() {
    return store::read_now(store_, [](store::Session& session) {
        std::vector<Pause> pauses;
        run_statement(session, sql::list_pauses, [&](const Row& row) {
            pauses.push_back(
                {std::string{row.text(0)},
                 store::DamagedRow{row, "list_pauses"}.column<std::optional<TimePoint>>(1, "since"),
                 std::string{row.text(2)},
                 std::string{row.text(3)}}
            );
        });
        return pauses;
    });
}

bool Pauses::pause(const std::string& queue, const std::string& by, const std::string& reason) {
    return store::write_now(store_, [&](store::Session& session) {
        if (execute_statement(session, sql::pause_queue, queue, session.now(), by, reason) == 0)
            return false;
        queue::audit(session, by, "pause", queue + ": " + reason);
        return true;
    });
}

bool Pauses::resume(const std::string& queue, const std::string& by, const std::string& reason) {
    return store::write_now(store_, [&](store::Session& session) {
        if (execute_statement(session, sql::resume_queue, queue) == 0) return false;
        queue::audit(session, by, "resume", queue + ": " + reason);
        return true;
    });
}

}  // namespace pawl::ops
