#include "src/cli/top/terminal.hpp"

#include "src/base/visible_text.hpp"
#include "src/cli/output.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace pawl::cli {

namespace {

// Sequences of ECMA-48 and of xterm, which all terminals of today know.
constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H";
constexpr std::string_view rest_of_line = "\x1b[K";
constexpr std::string_view rest_of_screen = "\x1b[J";

sigset_t watched() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&set, signal);
    return set;
}

}  // namespace

Signals::Signals() {
    const auto set = watched();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
}

Signals::~Signals() {
    ::close(descriptor_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::take() const {
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) != sizeof info) return 0;
    return static_cast<int>(info.ssi_signo);
}

Terminal::Terminal(const Signals& signals, std::ostream& out)
    : signals_{signals},
      out_{raw_buffer(out)},
      has_keys_{::tcgetattr(STDIN_FILENO, &before_) == 0} {
    if (has_keys_) {
        auto raw = before_;
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO);
        raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // A stopped `top` would leave the terminal as it is.
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    out_ << enter << std::flush;
}

Terminal::~Terminal() {
    out_ << leave << std::flush;
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen Terminal::size() const {
    winsize found{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0)
        return {80, 24};
    return {found.ws_col, found.ws_row};
}

void Terminal::draw(const std::vector<std::string>& lines, const std::string& status) {
    const auto [columns, rows] = size();
    std::string frame{home};
    std::vector<std::string> visible;
    for (const auto& line : lines) visible.push_back(base::visible_text(line));
    for (const auto& line : fitted(visible, 0, {columns, rows - 1}))
        frame.append(line).append(rest_of_line).append("\r\n");
    const auto last = fitted({base::visible_text(status)}, 0, {columns, 1}).front();
    frame.append(last).append(rest_of_screen);
    out_ << frame << std::flush;
}

Terminal::Input Terminal::wait(std::chrono::milliseconds limit) {
    std::array<pollfd, 2> watches{
        {{signals_.descriptor(), POLLIN, 0}, {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}}};
    if (::poll(watches.data(), watches.size(), static_cast<int>(limit.count())) <= 0)
        return Input::none;
    if (watches[0].revents != 0) {
        const int signal = signals_.take();
        if (signal == SIGWINCH) return Input::resized;
        signal_ = signal;
        return signal == 0 ? Input::none : Input::quit;
    }
    return read_keys();
}

Terminal::Input Terminal::read_keys() {
    std::array<char, 32> typed{};
    const auto size = ::read(STDIN_FILENO, typed.data(), typed.size());
    if (size <= 0) return Input::quit;  // The terminal is gone.
    const std::string_view keys{typed.data(), static_cast<std::size_t>(size)};
    if (keys.find_first_of("qQ") != keys.npos) return Input::quit;
    if (keys == "\x1b[A" || keys == "\x1bOA" || keys == "k") return Input::up;
    if (keys == "\x1b[B" || keys == "\x1bOB" || keys == "j") return Input::down;
    return Input::none;
}

}  // namespace pawl::cli
