#pragma once

#include <pawl/tx.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace pawl {
class Database;
}

namespace rides {

// A session that its rider has ended before its time.
struct EndedSession {
    std::string id;
    pawl::TimePoint began;
};

// The sessions that were ended by a sign-out, until they would have ended by themselves: their
// cookies are refused. Bounded: if there are too many, the earliest one's place is taken by the
// rule that no session from that time or before is good any more, so that an ended one never comes
// back. Thread-safe.
class EndedSessions {
public:
    static constexpr std::size_t kept_max = 65'536;

    explicit EndedSessions(std::size_t kept = kept_max) : kept_max_{kept} {}

    void end(EndedSession session);
    bool has_ended(const EndedSession& session) const;
    void forget_begun_before(pawl::TimePoint time);
    std::size_t kept() const;

private:
    const std::size_t kept_max_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, pawl::TimePoint> ended_;
    std::multimap<pawl::TimePoint, std::string> by_time_;
    pawl::TimePoint none_until_{};  // Sessions from then or before are not good any more.
};

// Keeps ended sessions in the database, for a restart and for other servers: what is ended here is
// written within moments, what is ended elsewhere is known after `poll_every`. A thread of its own;
// the database outlives it.
class EndedSessionsInDatabase {
public:
    static constexpr std::chrono::seconds poll_every{2};

    enum class Servers { one, several };  // That end sessions in this database.

    // Reads what was ended before. Throws StoreError.
    EndedSessionsInDatabase(pawl::Database& database, EndedSessions& sessions, Servers servers);
    ~EndedSessionsInDatabase();  // Writes what was ended last.
    EndedSessionsInDatabase(const EndedSessionsInDatabase&) = delete;
    EndedSessionsInDatabase& operator=(const EndedSessionsInDatabase&) = delete;

    // Ends it here at once, and in the database soon.
    void end(EndedSession session);

private:
    void run(const std::stop_token& stop);
    void exchange(std::vector<EndedSession> ended);

    pawl::Database& database_;
    EndedSessions& sessions_;
    const Servers servers_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<EndedSession> to_write_;
    std::jthread thread_;
};

}  // namespace rides
