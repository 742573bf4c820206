#include "apps/rides/pages/sent_forms.hpp"

#include <algorithm>

namespace rides {

void SentForms::add(std::string_view key, SteadyTime now) {
    const std::lock_guard guard{mutex_};
    while (!sent_.empty() &&
           (sent_.size() >= remembered_max || now - sent_.front().at >= remembered_for))
        sent_.pop_front();
    sent_.push_back({std::string{key}, now});
}

bool SentForms::has(std::string_view key, SteadyTime now) const {
    const std::lock_guard guard{mutex_};
    return std::ranges::any_of(sent_, [&](const Sent& one) {
        return one.key == key && now - one.at < remembered_for;
    });
}

}  // namespace rides
