#pragma once

#include "src/redis/client.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace pawl::testing {

// A redis-server of Debian in a folder of its own, on a port of the loopback; it ends with this
// object, or with the process. Keeps all that it has acknowledged, unless told otherwise.
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
    void restart();  // On what it has on its disk, where it was.
    // It takes in what is sent to it, and does and answers nothing until it is thawed.
    void freeze();
    void thaw();

    // A command of the test's own, apart from what it tests; an answer may take as long as BLPOP
    // waits. Throws StoreError.
    redis::Reply ask(const redis::Command& command);

private:
    void start();
    void end(int signal);
    bool is_ready(int output);

    std::filesystem::path folder_;
    std::vector<std::string> more_;
    int port_{0};
    pid_t server_{-1};
    std::thread log_;  // Reads what it says, so that it never waits for a reader.
    std::string said_;
};

// That of this process, started when first asked for; its keys are removed at each call.
RedisServer& empty_redis();

}  // namespace pawl::testing
