#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pawl::redis {

using namespace std::chrono_literals;

// How times stand in a job: seconds as a number with a fraction (Sidekiq up to 7), or whole
// milliseconds (from 8 on). Both are read, whichever is written.
enum class SidekiqTimes { seconds, milliseconds };

struct Options {
    std::string host{"127.0.0.1"};
    int port{6379};
    std::string user{};  // Empty: Redis' own `default`.
    std::string password{};
    int database{0};
    SidekiqTimes times{SidekiqTimes::seconds};
    // Kept open while nobody uses them. One is opened for each thread that asks at a moment.
    int idle_max{8};
    std::chrono::milliseconds connect_timeout{2s};  // Redis is near, or it is not there.
    // For each answer. Redis answers in well under a millisecond; appendfsync on a slow disk, and
    // a script of somebody else's, take longer.
    std::chrono::milliseconds command_timeout{5s};

    std::optional<std::string> problem() const;
    std::string place() const;  // "host:port", as errors name it.
};

// "redis://user:password@host:6379/0?sidekiq=8&connect_timeout_ms=500&command_timeout_ms=2000". All
// but the host may be missing. Throws std::invalid_argument, whose text shows no password, for a
// URL that is none, an unknown parameter, and rediss://.
Options options_of_url(const std::string& url);
bool is_redis_url(const std::string& url);  // Of rediss://, too.

}  // namespace pawl::redis
