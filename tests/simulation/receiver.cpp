#include "tests/simulation/receiver.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl::simulation {

const Receiver::Remembered* Receiver::remembered(const std::string& key) {
    const auto at = past_.find(key);
    if (key.empty() || at == past_.end() || clock_.steady() - at->second.at > memory_)
        return nullptr;
    return &at->second;
}

Outcome<Done, Declined> Receiver::answer(const Remembered& past) const {
    switch (past.what) {
        case Remembered::What::done:
            return Done{past.id};
        case Remembered::What::declined:
            return Declined{"as before"};
        case Remembered::What::error:
            break;
    }
    return Stuck{"a stored error"};
}

Done Receiver::carry_out(const std::string& key, const std::string& who) {
    Done made{who + "#" + std::to_string(++ids_)};
    effects[who].push_back(made.id);
    if (!key.empty()) past_[key] = {Remembered::What::done, made.id, clock_.steady()};
    return made;
}

void Receiver::land(std::size_t nth) {
    const auto landing = std::exchange(late_[nth], {});
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(nth));
    if (refuses_late && clock_.steady() - landing.sent > late_max) return;
    if (remembered(landing.key) == nullptr) carry_out(landing.key, landing.who);
}

Inquiry<Done, Declined> Receiver::inquire(const std::string& key, const std::string& who) {
    const auto does = asks_.does(*this);
    const auto takes = asks_.takes();
    asked_.try_emplace(who, Asked{.since = clock_.steady()}).first->second.undecided = true;
    if (takes > 0ms) Strand::sleep_until(clock_.steady() + takes);
    if (does == Does::throws) throw std::runtime_error{"the line was cut"};
    if (does != Does::serve && does != Does::decline) return Undecided{};
    const auto found = effects.find(who);
    const bool done = found != effects.end() && !found->second.empty();
    const auto* past = remembered(key);
    if (!done && past != nullptr && past->what != Remembered::What::declined)
        return Undecided{"a stored error"};
    asked_[who].undecided = false;
    if (done) return Done{found->second.front()};
    if (past != nullptr) return Declined{"as before"};
    return NotFound{.final_after = final_after};
}

milliseconds Receiver::undecided_for(const std::string& who) const {
    const auto at = asked_.find(who);
    if (at == asked_.end() || !at->second.undecided) return 0ms;
    return std::chrono::floor<milliseconds>(clock_.steady() - at->second.since);
}

bool Receiver::quiet_about(const std::string& who) const {
    const auto under_way = under_way_about_.find(who);
    return (under_way == under_way_about_.end() || under_way->second == 0) &&
           std::none_of(late_.begin(), late_.end(), [&](const auto& l) { return l.who == who; });
}

Outcome<Done, Declined> Receiver::take(const std::string& key, const std::string& who) {
    const auto now = clock_.steady();
    const auto does = asks_.does(*this);
    asked_.erase(who);
    if (!key.empty()) {
        const auto first = first_.find(key);
        if (first != first_.end() && now - first->second > memory_)
            asks_.violated("I21", "a call under a key that may be forgotten, about " + who);
        if (under_way_[key] > 0)
            asks_.violated("I11", "two calls at once under one key, about " + who);
        // A call that provably did nothing leaves no key to forget.
        if (does != Does::retry) first_.try_emplace(key, now);
    }
    const auto takes = asks_.takes();
    ++under_way_[key];
    ++under_way_about_[who];
    ++under_way_now_;
    if (takes > 0ms) Strand::sleep_until(clock_.steady() + takes);
    --under_way_[key];
    --under_way_about_[who];
    --under_way_now_;
    if (asks_.sender_is_dead()) {
        // It may have been sent.
        if (takes > 0ms && does != Does::lost && does != Does::retry)
            late_.push_back({key, who, now});
        return InDoubt{};
    }
    if (does == Does::retry) return Retry{};
    if (does == Does::lost) return InDoubt{};
    if (does == Does::late) {
        late_.push_back({key, who, now});
        return InDoubt{};
    }
    if (refuses_late && clock_.steady() - now > late_max) return InDoubt{};
    const auto* past = remembered(key);
    const bool forgets = does == Does::decline && refusals_ == Refusals::forgotten;
    if (past == nullptr && (does == Does::decline || does == Does::stuck) && !key.empty() &&
        !forgets) {
        stored_an_error = stored_an_error || does == Does::stuck;
        const auto what =
            does == Does::stuck ? Remembered::What::error : Remembered::What::declined;
        past = &(past_[key] = {what, "", clock_.steady()});
    }
    if (past != nullptr && (does == Does::cut || does == Does::throws)) return InDoubt{};
    if (past != nullptr) return answer(*past);
    if (does == Does::decline) return Declined{"no funds"};
    if (does == Does::stuck) return InDoubt{};  // Without a key the receiver stores no outcome.
    const auto made = carry_out(key, who);
    if (does == Does::cut) return InDoubt{};
    if (does == Does::throws) throw std::runtime_error{"the line was cut"};
    return made;
}

}  // namespace pawl::simulation
