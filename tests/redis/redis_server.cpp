#include "tests/redis/redis_server.hpp"

#include "src/redis/connection.hpp"
#include "tests/free_port.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace pawl::testing {

namespace {

using redis::Access;

constexpr int starts_max = 5;  // Another process may take the port meanwhile.

[[noreturn]] void become_redis(const std::vector<std::string>& words, int output) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

}  // namespace

RedisServer::RedisServer(std::vector<std::string> more) : more_{std::move(more)} {
    auto folder = (std::filesystem::temp_directory_path() / "pawl-redis-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error{"no folder for Redis"};
    folder_ = folder;
    for (int tries = 1; server_ < 0; ++tries) {
        port_ = free_port();
        try {
            start();
        } catch (const std::runtime_error&) {
            if (tries == starts_max) throw;
        }
    }
}

RedisServer::~RedisServer() {
    end(SIGTERM);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

redis::Options RedisServer::options() const {
    return redis::options_of_url(url());
}

void RedisServer::start() {
    std::vector<std::string> words{
        "redis-server",
        "--port",
        std::to_string(port_),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder_.string(),
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        "--save",
        ""};
    words.insert(words.end(), more_.begin(), more_.end());
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe for Redis"};
    server_ = ::fork();
    if (server_ == 0) become_redis(words, pipe[1]);
    ::close(pipe[1]);
    said_.clear();
    if (!is_ready(pipe[0])) {
        ::close(pipe[0]);
        end(SIGKILL);
        throw std::runtime_error{"redis-server did not start: " + said_};
    }
    log_ = std::thread{[output = pipe[0]] {
        std::array<char, 4'096> ignored{};
        while (::read(output, ignored.data(), ignored.size()) > 0) {
        }
        ::close(output);
    }};
}

// Waits until it says so, or ends.
bool RedisServer::is_ready(int output) {
    std::array<char, 4'096> piece{};
    while (said_.find("Ready to accept connections") == said_.npos) {
        const auto size = ::read(output, piece.data(), piece.size());
        if (size <= 0) return false;
        said_.append(piece.data(), static_cast<std::size_t>(size));
    }
    return true;
}

void RedisServer::end(int signal) {
    if (server_ > 0) {
        ::kill(server_, signal);
        thaw();  // A frozen process receives only SIGKILL.
        ::waitpid(server_, nullptr, 0);
        server_ = -1;
    }
    if (log_.joinable()) log_.join();
}

void RedisServer::kill() {
    end(SIGKILL);
}

void RedisServer::restart() {
    end(SIGTERM);
    start();
}

void RedisServer::freeze() {
    ::kill(server_, SIGSTOP);
    ::waitpid(server_, nullptr, WUNTRACED);  // Until it has stopped.
}

void RedisServer::thaw() {
    ::kill(server_, SIGCONT);
}

redis::Reply RedisServer::ask(const redis::Command& command) {
    auto patient = options();
    patient.command_timeout = std::chrono::minutes{1};
    redis::Connection connection{patient};
    auto reply = connection.ask("test", std::span{&command, 1}, Access::write).at(0);
    if (reply.is_error()) redis::throw_answer("test", reply.text, patient);
    return reply;
}

RedisServer& empty_redis() {
    static RedisServer server;
    server.ask({"FLUSHALL"});
    return server;
}

}  // namespace pawl::testing
