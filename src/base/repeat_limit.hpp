#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::base {

// What is alike: the event, and the subject that its lines have in common ("no connection to
// 10.0.0.7").
struct Repeatable {
    std::string event;
    std::string subject;
    auto operator<=>(const Repeatable&) const = default;
};

// Lets the first few lines of each window through, and counts the others, so that an outage makes
// a line each ten seconds, and not one for each request. Not thread-safe.
class RepeatLimit {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Rule {
        std::chrono::milliseconds window{10'000};
        std::size_t known_max{1'000};  // Beyond it, all subjects of an event are counted as one.
    };
    RepeatLimit() = default;
    explicit RepeatLimit(Rule rule) : rule_{rule} {}

    // How many were held back since the last one that passed; nullopt: this one is held back, too.
    // `burst` is how many pass in a window.
    std::optional<std::int64_t> pass(Repeatable what, int burst, Time now);

    struct HeldBack {
        Repeatable what;
        std::int64_t count{};
    };
    // Forgets the windows that are over, and returns those with lines that were held back.
    std::vector<HeldBack> take_ended(Time now);
    std::vector<HeldBack> take_all() { return take_ended(Time::max()); }

private:
    struct Window {
        Time began{};
        int passed{};
        std::int64_t held_back{};
    };

    Rule rule_;
    std::map<Repeatable, Window> windows_;
};

}  // namespace pawl::base
