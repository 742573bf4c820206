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

// A session that its rider has ended early.
struct EndedSession {
    std::string id;
    pawl::TimePoint began;
};

// The sessions that a sign-out has ended, until they would have expired: their cookies are refused.
// Bounded: if there are too many, the earliest is replaced by the rule that no session from that
// time or before is valid, so that an ended one never becomes valid again. Thread-safe.
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
    pawl::TimePoint none_until_{};  // Sessions from then or before are not valid.
};

// Stores ended sessions in the database, for a restart and for other servers: those ended here are
// written within moments, those ended elsewhere are known after `poll_every`. Has a thread of its
// own; the database outlives it.
class EndedSessionsInDatabase {
public:
    static constexpr std::chrono::seconds poll_every{2};

    enum class Servers { one, several };  // That end sessions in this database.

    // Reads the sessions ended before. Throws StoreError.
    EndedSessionsInDatabase(pawl::Database& database, EndedSessions& sessions, Servers servers);
    ~EndedSessionsInDatabase();  // Writes the last ended ones.
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
