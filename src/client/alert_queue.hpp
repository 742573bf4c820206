#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::client {

// The events that wake a person up, or let him sleep again. docs/events.md marks them.
constexpr std::array<std::string_view, 13> alert_events{
    "attention_added",
    "database_restored",
    "handler_overdue",
    "job_dead",
    "key_stranded",
    "key_stuck",
    "provider_down",
    "provider_up",
    "result_stored",
    "secret_unknown",
    "store_down",
    "store_up",
    "stranded_keys"};

bool is_alert(std::string_view event);

// Alerts that wait to be sent: one of each event, which counts those that came after it. So it is
// bounded, however many come and however long a receiver hangs. Not thread-safe.
class AlertQueue {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds apart{10};  // Alerts of one event.

    void add(std::string_view event, const std::string& line);

    struct Alert {
        std::string event;
        std::string line;          // The log's, a JSON object.
        std::int64_t more{};       // Others of its event since the last alert.
        std::string text() const;  // `line` with "more".
    };
    // The next alert that may be sent now.
    std::optional<Alert> next(Time now);
    // When the next one may be sent; nullopt: none waits.
    std::optional<Time> due() const;
    // It was not delivered: the next one of its event counts it.
    void failed(const Alert& alert);

private:
    struct OfEvent {
        std::string line;  // Empty: none waits.
        std::int64_t more{};
        Time not_before{};
    };
    std::map<std::string, OfEvent, std::less<>> events_;
};

}  // namespace pawl::client
