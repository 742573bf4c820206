#pragma once

#include <memory>
#include <optional>
#include <string>

namespace pawl {

// Where the events go that wake a person up: docs/events.md marks them.
struct AlertOptions {
    std::string webhook{};  // Gets each as JSON by POST; http:// or https://.
    // A command of /bin/sh, which gets each as a line of JSON on its standard input. Runs one at a
    // time, at most 30 s.
    std::string command{};

    std::optional<std::string> problem() const;  // Names the option and its value.
};

// Sends alerts while it lives, on a thread of its own: no request ever waits for it. At most one of
// each event in ten seconds; the next one says how many more there were. A webhook that fails is
// tried three times. Make one in a program, before its service; a program without options costs
// nothing. Throws std::invalid_argument.
class Alerts {
public:
    explicit Alerts(const AlertOptions& options);
    ~Alerts();  // Tries once to send what waits.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
