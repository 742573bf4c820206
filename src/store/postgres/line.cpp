#include "src/store/postgres/line.hpp"

#include <iterator>
#include <limits>
#include <utility>

namespace pawl::postgres {

namespace {

constexpr int looking_max = 2;  // Connections; with more, lookups would be sent one by one.

template <class Deque>
auto popped(Deque& deque) {
    auto front = std::move(deque.front());
    deque.pop_front();
    return front;
}

}  // namespace

std::optional<Line::Put> Line::refusal() const {
    if (stopping_) return Put::stopping;
    if (size() >= limits_.waiting_max) return Put::too_many;
    return std::nullopt;
}

Line::Put Line::write(std::unique_ptr<store::Work>& work, store::Urgency urgency) {
    const std::lock_guard guard{mutex_};
    if (const auto refused = refusal()) return *refused;
    const bool shares =
        work->isolation() != Isolation::serializable && rule_.allows(work->kind(), clock_.steady());
    auto& lane = urgency == store::Urgency::first ? urgent_ : shares ? shared_ : alone_;
    lane.push_back({next_number_++, std::move(work), true});
    wake_one();
    return Put::taken;
}

Line::Put Line::read(std::unique_ptr<store::Work>& work) {
    const std::lock_guard guard{mutex_};
    if (const auto refused = refusal()) return *refused;
    alone_.push_back({next_number_++, std::move(work), false});
    wake_one();
    return Put::taken;
}

Line::Put Line::look(std::unique_ptr<store::Look>& look) {
    const std::lock_guard guard{mutex_};
    if (const auto refused = refusal()) return *refused;
    looks_.push_back({next_number_++, std::move(look)});
    wake_one();
    return Put::taken;
}

// The lane to serve next; none: what waits is left to the connections that serve it already.
Line::Lane Line::next() const {
    if (!urgent_.empty()) return Lane::urgent;
    auto oldest = std::numeric_limits<std::uint64_t>::max();
    auto lane = Lane::none;
    const auto consider = [&](const auto& line, Lane of) {
        if (line.empty() || line.front().number > oldest) return;
        oldest = line.front().number;
        lane = of;
    };
    consider(alone_, Lane::alone);
    if (!shared_.empty() && sharing_ < rule_.connections(clock_.steady()))
        consider(shared_, Lane::shared);
    if (looking_ < looking_max) consider(looks_, Lane::looks);
    return lane;
}

void Line::take_shared(Turn& turn) {
    turn.form = Turn::Form::shared;
    const auto now = clock_.steady();
    const auto isolation = shared_.front().work->isolation();
    for (auto at = shared_.begin(); at != shared_.end() && turn.works.size() < limits_.share_max;) {
        if (at->work->isolation() == isolation) {
            turn.in_savepoint.push_back(rule_.needs_savepoint(at->work->kind(), now));
            turn.works.push_back(std::move(at->work));
            at = shared_.erase(at);
        } else {
            ++at;
        }
    }
    ++sharing_;
}

Turn Line::take_from(Lane lane) {
    Turn turn;
    if (lane == Lane::shared) {
        take_shared(turn);
    } else if (lane == Lane::looks) {
        turn.form = Turn::Form::looks;
        while (!looks_.empty() && turn.looks.size() < limits_.share_max)
            turn.looks.push_back(popped(looks_).look);
        ++looking_;
    } else if (lane != Lane::none) {
        auto waiting = popped(lane == Lane::urgent ? urgent_ : alone_);
        turn.form = waiting.writes ? Turn::Form::write : Turn::Form::read;
        turn.works.push_back(std::move(waiting.work));
    }
    return turn;
}

Turn Line::take() {
    std::unique_lock guard{mutex_};
    for (;;) {
        if (const auto lane = next(); lane != Lane::none) {
            auto turn = take_from(lane);
            wake_one();  // Other works may wait.
            return turn;
        }
        if (stopping_) return {};  // Busy connections take what their lanes still have.
        Sleeper me;
        sleepers_.push_back(&me);
        me.woken.wait(guard, [&] { return me.awake; });
    }
}

void Line::wake_one() {
    if (sleepers_.empty() || next() == Lane::none) return;
    auto* sleeper = sleepers_.back();
    sleepers_.pop_back();
    sleeper->awake = true;
    sleeper->woken.notify_one();
}

void Line::ended(Turn& turn) {
    const std::lock_guard guard{mutex_};
    if (std::exchange(turn.ended, true)) return;
    if (turn.form == Turn::Form::shared) --sharing_;
    if (turn.form == Turn::Form::looks) --looking_;
    wake_one();
}

void Line::put_back_alone(std::vector<std::unique_ptr<store::Work>> works) {
    const std::lock_guard guard{mutex_};
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 has no std::views::reverse with libstdc++.
    for (auto work = works.rbegin(); work != works.rend(); ++work)
        alone_.push_front({0, std::move(*work), true});
    wake_one();
}

void Line::shared_went_well() {
    const std::lock_guard guard{mutex_};
    rule_.went_well();
}

void Line::shared_broke_up() {
    const std::lock_guard guard{mutex_};
    const auto now = clock_.steady();
    rule_.broke_up(now);
    if (rule_.connections(now) > 0) return;
    for (auto& waiting : std::exchange(shared_, {})) alone_.push_back(std::move(waiting));
    wake_one();
}

void Line::keep_apart(const void* kind) {
    const std::lock_guard guard{mutex_};
    rule_.keep_apart(kind, clock_.steady());
}

void Line::threw(const void* kind) {
    const std::lock_guard guard{mutex_};
    rule_.threw(kind, clock_.steady());
}

void Line::stop() {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    for (auto* sleeper : std::exchange(sleepers_, {})) {
        sleeper->awake = true;
        sleeper->woken.notify_one();
    }
}

bool Line::is_stopping() const {
    const std::lock_guard guard{mutex_};
    return stopping_;
}

Turn Line::take_all() {
    const std::lock_guard guard{mutex_};
    Turn turn;
    for (auto* lane : {&urgent_, &alone_, &shared_})
        for (auto& waiting : std::exchange(*lane, {}))
            turn.works.push_back(std::move(waiting.work));
    for (auto& waiting : std::exchange(looks_, {})) turn.looks.push_back(std::move(waiting.look));
    return turn;
}

}  // namespace pawl::postgres
