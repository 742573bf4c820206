#pragma once

#include "src/redis/client.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace pawl::testing {

// A redis-server in a folder of its own, on a loopback port; ends with this object or the process.
// Keeps all that it has acknowledged, unless configured otherwise.
class RedisServer {
public:
    // `more` as on redis-server's command line: {"--requirepass", "secret"}.
    explicit RedisServer(std::vector<std::string> more = {});
    ~RedisServer();
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    int port() const { return port_; }
    std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    redis::Options options() const;

    void kill();     // -9
    void restart();  // With its data on disk, on the same port.
    // It receives what is sent, but executes and answers nothing until thaw().
    void freeze();
    void thaw();

    // A command of the test, apart from what it tests; a reply may take as long as BLPOP waits.
    // Throws StoreError.
    redis::Reply ask(const redis::Command& command);

private:
    void start();
    void end(int signal);
    bool is_ready(int output);

    std::filesystem::path folder_;
    std::vector<std::string> more_;
    int port_{0};
    pid_t server_{-1};
    std::thread log_;  // Reads its output, so that it never blocks on it.
    std::string said_;
};

// The one of this process, started on first use; each call removes its keys.
RedisServer& empty_redis();

}  // namespace pawl::testing
