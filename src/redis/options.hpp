#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pawl::redis {

using namespace std::chrono_literals;

// How a job's times are written: seconds with a fraction (Sidekiq up to 7), or whole milliseconds
// (from 8 on). Both are always read.
enum class SidekiqTimes { seconds, milliseconds };

struct Options {
    std::string host{"127.0.0.1"};
    int port{6379};
    std::string user{};  // Empty: Redis' own `default`.
    std::string password{};
    int database{0};
    SidekiqTimes times{SidekiqTimes::seconds};
    // Idle connections kept open. Each concurrent call has its own connection.
    int idle_max{8};
    std::chrono::milliseconds connect_timeout{2s};  // Redis is near, or unreachable.
    // For each reply. Redis answers in well under a millisecond, but appendfsync on a slow disk or
    // another client's script takes longer.
    std::chrono::milliseconds command_timeout{5s};

    std::optional<std::string> problem() const;
    std::string place() const;  // "host:port", for error texts.
};

// "redis://user:password@host:6379/0?sidekiq=8&connect_timeout_ms=500&command_timeout_ms=2000".
// Only the host is required. Throws std::invalid_argument, whose text never contains the password,
// for a malformed URL, an unknown parameter, and rediss://.
Options options_of_url(const std::string& url);

}  // namespace pawl::redis
