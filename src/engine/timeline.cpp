#include "src/engine/timeline.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/base/error_text.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::engine {

namespace {

std::string cut(const std::string& text) {
    auto plain = base::sanitized_error(text);
    if (plain.size() <= Timeline::detail_max) return plain;
    auto end = Timeline::detail_max;
    while (end > 0 && (static_cast<unsigned char>(plain[end]) & 0xC0U) == 0x80U) --end;  // UTF-8.
    return plain.substr(0, end) + "...";
}

}  // namespace

void write_events(
    store::Session& session,
    std::int64_t key_id,
    int attempt,
    int part,
    const std::vector<TimelineEvent>& events
) {
    detail::send_statement(
        session, sql::insert_key_events, key_id, attempt, part, to_json(TimelineEvents{events})
    );
}

void write_event_of_person(store::Session& session, std::int64_t key_id, TimelineEvent event) {
    if (event.detail) event.detail = cut(*event.detail);
    detail::send_statement(
        session,
        sql::insert_key_events_of_person,
        key_id,
        to_json(TimelineEvents{{std::move(event)}})
    );
}

void Timeline::add(TimelineEvent event) {
    if (events_.size() >= events_max) {
        ++dropped_;
        return;
    }
    if (event.detail) event.detail = cut(*event.detail);
    events_.push_back(std::move(event));
}

void Timeline::write(store::Session& session, std::int64_t key_id, int attempt) {
    if (events_.size() == written_) return;
    if (dropped_ > 0)
        events_.back().detail = std::to_string(dropped_) + " events after this one were dropped";
    // A new number in each run: a commit without an answer may have written the one before.
    const auto first = events_.begin() + static_cast<std::ptrdiff_t>(written_);
    write_events(session, key_id, attempt, part_++, {first, events_.end()});
    if (attempt > first_attempts + last_attempts)
        detail::send_statement(
            session,
            sql::delete_middle_key_events,
            key_id,
            first_attempts + 1,
            attempt - last_attempts
        );
    written_ = events_.size();
}

void Timeline::end(bool committed) {
    if (committed) {
        events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(written_));
        if (written_ > 0) dropped_ = 0;
    } else {
        events_.resize(kept_);
    }
    kept_ = events_.size();
    written_ = 0;
}

}  // namespace pawl::engine
