#pragma once

#include "src/cli/top/screen.hpp"

#include <termios.h>

#include <chrono>
#include <csignal>
#include <ostream>
#include <string>
#include <vector>

namespace pawl::cli {

// The signals that end or resize `top`, as readable events. Threads that are made later inherit
// that they are blocked, so this object comes before the database is opened.
class Signals {
public:
    Signals();
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    int descriptor() const { return descriptor_; }
    int take() const;  // The number of the next signal.

private:
    sigset_t before_{};
    int descriptor_{};
};

// The terminal of standard input and output while `top` draws on it: its other screen, no echo, no
// cursor. The destructor gives it back as it was.
class Terminal {
public:
    enum class Input { none, quit, up, down, resized };

    Terminal(const Signals& signals, std::ostream& out);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Screen size() const;
    // The last line is the status.
    void draw(const std::vector<std::string>& lines, const std::string& status);
    // Waits for a key or a signal, at most so long.
    Input wait(std::chrono::milliseconds limit);
    int signal() const { return signal_; }  // That ended it; 0: none.

private:
    Input read_keys();

    const Signals& signals_;
    std::ostream out_;
    termios before_{};
    bool has_keys_{};
    int signal_{0};
};

}  // namespace pawl::cli
