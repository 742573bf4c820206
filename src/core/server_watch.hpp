#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

// When a server has ended, as another one sees it.
namespace pawl::core {

struct ServerTimes {
    std::chrono::milliseconds beat_every{300};
    // A server that has not beaten for this long has ended if its session lock is free: its process
    // is dead.
    std::chrono::milliseconds silent_min{1'000};
    // ...and for this long, in any case: its host is dead, or can't reach the database.
    std::chrono::milliseconds silent_max{10'000};
};

struct ServerRow {
    std::int64_t id{};
    std::int64_t beats{};
    std::optional<std::int64_t> session_lock{};
};

struct SilentServer {
    ServerRow row;
    std::chrono::milliseconds silent_for{};
    bool only_if_lock_is_free{};  // Else it has ended.
};

// What one server remembers of the others. Not thread-safe. Times are of this server's steady
// clock, so that no two clocks are compared.
class ServerWatch {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit ServerWatch(ServerTimes times) : times_{times} {}

    // The servers that are silent, from all rows but this server's own. Silence counts from the
    // first look that saw the beat.
    std::vector<SilentServer> look(const std::vector<ServerRow>& others, Time now);
    // This server's own look failed. The database may be away, and then all beats and locks are
    // gone: for silent_max, free locks tell nothing.
    void look_failed(Time now);

private:
    struct Seen {
        std::int64_t beats{};
        std::chrono::milliseconds silent_for{};
    };

    ServerTimes times_;
    std::map<std::int64_t, Seen> seen_;
    std::optional<Time> last_look_;
    std::optional<Time> locks_count_from_;
};

}  // namespace pawl::core
