#include "src/ops/pauses.hpp"

#include <pawl/detail/rows.hpp>

#include "src/queue/audit.hpp"
#include "src/store/blocking.hpp"
#include "src/store/damaged_row.hpp"
#include "store/statements.hpp"

namespace pawl::ops {

using detail::execute_statement;
using detail::read_row;
using detail::read_rows;
using detail::Row;

Pauses::Pauses(store::Store& store, base::Clock& clock, std::chrono::milliseconds remembered)
    : store_{store}, clock_{clock}, remembered_{remembered} {}

bool Pauses::paused(const std::string& queue) {
    const auto now = clock_.steady();
    {
        const std::lock_guard lock{mutex_};
        const auto known = known_.find(queue);
        if (known != known_.end() && now < known->second.until) return known->second.paused;
    }
    const auto is_there = [](const Row&) { return true; };
    const bool paused = store::read_now(store_, [&](store::Session& session) {
        return read_row(session, sql::find_pause, is_there, queue).has_value();
    });
    const std::lock_guard lock{mutex_};
    known_[queue] = {paused, now + remembered_};
    return paused;
}

std::vector<Pause> Pauses::list() {
    return store::read_now(store_, [](store::Session& session) {
        return read_rows(session, sql::list_pauses, [](const Row& row) {
            store::DamagedRow values{row, "list_pauses"};
            return Pause{
                std::string{row.text(0)},
                values.column<std::optional<TimePoint>>(1, "since"),
                std::string{row.text(2)},
                std::string{row.text(3)}};
        });
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
