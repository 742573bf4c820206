#include "src/client/alert_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace pawl::client {

namespace {

std::string error_of(const char* what, int error) {
    return std::string{what} + ": " + std::strerror(error);
}

// The server blocks some signals and ignores others, and its files are no business of the command.
class SpawnSettings {
public:
    explicit SpawnSettings(int input) {
        posix_spawn_file_actions_init(&files_);
        posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
        posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
        posix_spawnattr_init(&attributes_);
        sigset_t none;
        sigemptyset(&none);
        sigset_t all;
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        );
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&files_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    int start(pid_t& process, std::string command) {
        std::string shell = "sh";
        std::string option = "-c";
        std::array<char*, 4> arguments{shell.data(), option.data(), command.data(), nullptr};
        return posix_spawn(&process, "/bin/sh", &files_, &attributes_, arguments.data(), ::environ);
    }

private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

bool ended_within(pid_t process, std::chrono::milliseconds limit) {
    // glibc 2.36 declares pidfd_open without C linkage.
    const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (descriptor < 0) return false;
    pollfd end{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int found = ::poll(&end, 1, static_cast<int>(limit.count()));
    ::close(descriptor);
    return found > 0;
}

}  // namespace

std::optional<std::string> run_command(
    const std::string& command, const std::string& line, std::chrono::milliseconds limit
) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return error_of("pipe", errno);
    // A pipe holds 64 KiB, so that the line is written before the command starts.
    const auto text = line + '\n';
    const bool written = ::write(pipe[1], text.data(), text.size()) == ssize_t(text.size());
    ::close(pipe[1]);
    ::fcntl(pipe[0], F_SETFL, 0);  // The command's input waits as usual.
    pid_t process = 0;
    const int error = written ? SpawnSettings{pipe[0]}.start(process, command) : EMSGSIZE;
    ::close(pipe[0]);
    if (error != 0) return error_of("it was not started", error);
    const bool ended = ended_within(process, limit);
    ::kill(-process, SIGKILL);  // Also children that it left behind.
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ended) return "it took longer than " + std::to_string(limit.count()) + " ms";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    return WIFEXITED(status) ? "it ended with " + std::to_string(WEXITSTATUS(status))
                             : "signal " + std::to_string(WTERMSIG(status)) + " ended it";
}

}  // namespace pawl::client
