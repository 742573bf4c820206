#include "src/page/sessions.hpp"

#include <algorithm>
#include <utility>

namespace pawl::page {

namespace {

constexpr std::size_t digits = 64;

}  // namespace

void Sessions::make_room(std::string_view name) {
    const auto is_theirs = [name](const auto& one) { return one.second.name == name; };
    const bool by_name =
        std::ranges::count_if(sessions_, is_theirs) >= static_cast<std::ptrdiff_t>(of_name_max);
    if (!by_name && sessions_.size() < count_max) return;
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
        if ((!by_name || is_theirs(*at)) &&
            (oldest == sessions_.end() || at->second.used < oldest->second.used))
            oldest = at;
    sessions_.erase(oldest);
}

Session Sessions::begin(std::string name, std::string token_hash, TimePoint now) {
    Session made{
        .id = base::random_hex(random_, digits),
        .name = std::move(name),
        .token_hash = std::move(token_hash),
        .form_token = base::random_hex(random_, digits),
        .began = now,
        .used = now};
    const std::lock_guard lock{mutex_};
    make_room(made.name);
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

std::string Sessions::name_of(std::string_view id) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? std::string{} : found->second.name;
}

void Sessions::end(std::string_view id) {
    const std::lock_guard lock{mutex_};
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) sessions_.erase(found);
}

}  // namespace pawl::page
