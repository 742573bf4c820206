#include "src/client/alert_queue.hpp"

#include <algorithm>
#include <utility>

namespace pawl::client {

bool is_alert(std::string_view event) {
    return std::ranges::find(alert_events, event) != alert_events.end();
}

std::string AlertQueue::Alert::text() const {
    if (more == 0) return line;
    return line.substr(0, line.size() - 1) + ",\"more\":" + std::to_string(more) + '}';
}

void AlertQueue::add(std::string_view event, const std::string& line) {
    auto& of_event = events_[std::string{event}];
    if (of_event.line.empty())
        of_event.line = line;
    else
        ++of_event.more;
}

std::optional<AlertQueue::Alert> AlertQueue::next(Time now) {
    for (auto& [event, waiting] : events_) {
        if (waiting.line.empty() || waiting.not_before > now) continue;
        waiting.not_before = now + apart;
        return Alert{
            .event = event,
            .line = std::exchange(waiting.line, {}),
            .more = std::exchange(waiting.more, 0)};
    }
    return std::nullopt;
}

std::optional<AlertQueue::Time> AlertQueue::due() const {
    std::optional<Time> soonest;
    for (const auto& [event, waiting] : events_)
        if (!waiting.line.empty())
            soonest = std::min(soonest.value_or(waiting.not_before), waiting.not_before);
    return soonest;
}

void AlertQueue::failed(const Alert& alert) {
    events_[alert.event].more += 1 + alert.more;
}

}  // namespace pawl::client
