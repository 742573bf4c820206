#include "src/page/sessions.hpp"

#include <algorithm>
#include <utility>

namespace pawl::page {

namespace {

constexpr std::size_t digits = 64;

}  // namespace

void Sessions::make_room() {
    if (sessions_.size() < count_max) return;
    sessions_.erase(std::ranges::min_element(sessions_, {}, [](const auto& one) {
        return one.second.used;
    }));
}

Session Sessions::begin(std::string name, TimePoint now) {
    Session made{
        .id = base::random_hex(random_, digits),
        .name = std::move(name),
        .form_token = base::random_hex(random_, digits),
        .began = now,
        .used = now};
    const std::lock_guard lock{mutex_};
    make_room();
    sessions_.emplace(made.id, made);
    return made;
}

std::optional<Session> Sessions::find(std::string_view id, TimePoint now) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return std::nullopt;
    auto& session = found->second;
    if (now - session.used > idle_max || now - session.began > age_max) {
        sessions_.erase(found);
        return std::nullopt;
    }
    session.used = now;
    auto copy = session;
    session.message.clear();
    return copy;
}

void Sessions::tell(std::string_view id, std::string message) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second.message = std::move(message);
}

void Sessions::end(std::string_view id) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) sessions_.erase(found);
}

}  // namespace pawl::page
