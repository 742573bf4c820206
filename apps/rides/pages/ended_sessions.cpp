#include "apps/rides/pages/ended_sessions.hpp"

#include <pawl/database.hpp>
#include <pawl/error.hpp>
#include <pawl/log.hpp>

#include "apps/rides/pages/sessions.hpp"
#include "rides/statements.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace rides {

using namespace std::chrono_literals;

void EndedSessions::end(EndedSession session) {
    const std::unique_lock lock{mutex_};
    if (!ended_.emplace(session.id, session.began).second) return;
    by_time_.emplace(session.began, std::move(session.id));
    if (ended_.size() <= kept_max_) return;
    const auto earliest = by_time_.begin();
    none_until_ = std::max(none_until_, earliest->first);
    ended_.erase(earliest->second);
    by_time_.erase(earliest);
}

bool EndedSessions::has_ended(const EndedSession& session) const {
    const std::shared_lock lock{mutex_};
    return session.began <= none_until_ || ended_.contains(session.id);
}

void EndedSessions::forget_begun_before(pawl::TimePoint time) {
    const std::unique_lock lock{mutex_};
    while (!by_time_.empty() && by_time_.begin()->first < time) {
        ended_.erase(by_time_.begin()->second);
        by_time_.erase(by_time_.begin());
    }
}

std::size_t EndedSessions::kept() const {
    const std::shared_lock lock{mutex_};
    return ended_.size();
}

EndedSessionsInDatabase::EndedSessionsInDatabase(
    pawl::Database& database, EndedSessions& sessions, Servers servers
)
    : database_{database}, sessions_{sessions}, servers_{servers} {
    exchange({});
    thread_ = std::jthread{[this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "rides-sessions");  // For top -H and debuggers.
        run(stop);
    }};
}

EndedSessionsInDatabase::~EndedSessionsInDatabase() {
    thread_.request_stop();
    thread_.join();
}

void EndedSessionsInDatabase::end(EndedSession session) {
    sessions_.end(session);
    const std::lock_guard lock{mutex_};
    // If the database is away for long, further ones are ended on this server only.
    if (to_write_.size() >= EndedSessions::kept_max) return;
    to_write_.push_back(std::move(session));
    changed_.notify_one();
}

void EndedSessionsInDatabase::run(const std::stop_token& stop) {
    bool failed = false;
    const std::chrono::seconds idle = servers_ == Servers::one ? 3600s : poll_every;
    while (true) {
        const auto wait = failed ? poll_every : idle;
        std::vector<EndedSession> ended;
        {
            std::unique_lock lock{mutex_};
            changed_.wait_for(lock, stop, wait, [&] { return !failed && !to_write_.empty(); });
            ended.swap(to_write_);
        }
        const bool last = stop.stop_requested();
        if (last && ended.empty()) return;  // The database may be stopped already.
        try {
            exchange(ended);
            failed = false;
        } catch (const std::exception& why) {
            if (!std::exchange(failed, true))
                pawl::log::warning("ended_sessions_not_kept", {{"detail", why.what()}});
            const std::lock_guard lock{mutex_};
            to_write_.insert(to_write_.begin(), ended.begin(), ended.end());
        }
        if (last) return;
    }
}

// One transaction, without a write unless a session was ended here or is over.
void EndedSessionsInDatabase::exchange(std::vector<EndedSession> ended) {
    std::vector<EndedSession> found;
    pawl::TimePoint over;
    database_.write([&](pawl::Tx& tx) {
        over = tx.now() - Sessions::age_max;
        for (const auto& one : ended) pawl::send(tx, sql::end_session, one.id, one.began);
        pawl::send(tx, sql::forget_ended_sessions, over);
        found = pawl::query<EndedSession>(tx, sql::find_ended_sessions);
    });
    for (auto& one : found) sessions_.end(std::move(one));
    sessions_.forget_begun_before(over);
}

}  // namespace rides
