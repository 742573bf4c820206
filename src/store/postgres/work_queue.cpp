#include "src/store/postgres/work_queue.hpp"

#include "src/core/assert.hpp"

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

std::optional<WorkQueue::Put> WorkQueue::refusal() const {
    if (stopping_) return Put::stopping;
    if (size() >= limits_.waiting_max) return Put::too_many;
    return std::nullopt;
}

WorkQueue::Put WorkQueue::put(std::unique_ptr<store::Work>& work, store::Urgency urgency) {
    if (const auto refused = refusal()) return *refused;
    const bool shares =
        work->isolation() != Isolation::serializable && rule_.allows(work->kind(), clock_.steady());
    auto& source = urgency == store::Urgency::first ? urgent_ : shares ? shared_ : alone_;
    source.push_back({next_number_++, std::move(work), true});
    return Put::taken;
}

WorkQueue::Put WorkQueue::write(std::unique_ptr<store::Work>& work, store::Urgency urgency) {
    const std::lock_guard guard{mutex_};
    const auto result = put(work, urgency);
    wake_one();
    return result;
}

std::vector<WorkQueue::Put> WorkQueue::write_all(std::vector<std::unique_ptr<store::Work>>& works) {
    const std::lock_guard guard{mutex_};
    std::vector<Put> results;
    results.reserve(works.size());
    for (auto& work : works) results.push_back(put(work, store::Urgency::normal));
    wake_one();
    return results;
}

WorkQueue::Put WorkQueue::read(std::unique_ptr<store::Work>& work) {
    const std::lock_guard guard{mutex_};
    if (const auto refused = refusal()) return *refused;
    alone_.push_back({next_number_++, std::move(work), false});
    wake_one();
    return Put::taken;
}

WorkQueue::Put WorkQueue::lookup(std::unique_ptr<store::Lookup>& lookup) {
    const std::lock_guard guard{mutex_};
    if (const auto refused = refusal()) return *refused;
    lookups_.push_back({next_number_++, std::move(lookup)});
    wake_one();
    return Put::taken;
}

// The source to serve next; none: what waits is left to the connections that serve it already.
WorkQueue::Source WorkQueue::next() const {
    if (!urgent_.empty()) return Source::urgent;
    auto oldest = std::numeric_limits<std::uint64_t>::max();
    auto source = Source::none;
    const auto consider = [&](const auto& queue, Source of) {
        if (queue.empty() || queue.front().number > oldest) return;
        oldest = queue.front().number;
        source = of;
    };
    consider(alone_, Source::alone);
    if (!shared_.empty() && sharing_ < rule_.connections(clock_.steady()))
        consider(shared_, Source::shared);
    if (looking_up_ < looking_max) consider(lookups_, Source::lookups);
    return source;
}

void WorkQueue::take_shared(WorkBatch& batch) {
    batch.form = WorkBatch::Form::shared;
    const auto now = clock_.steady();
    const auto isolation = shared_.front().work->isolation();
    for (auto at = shared_.begin();
         at != shared_.end() && batch.works.size() < limits_.share_max;) {
        if (at->work->isolation() == isolation) {
            batch.in_savepoint.push_back(rule_.needs_savepoint(at->work->kind(), now));
            batch.works.push_back(std::move(at->work));
            at = shared_.erase(at);
        } else {
            ++at;
        }
    }
    ++sharing_;
    PAWL_ASSERT(sharing_ <= limits_.sharing);
    PAWL_ASSERT(batch.in_savepoint.size() == batch.works.size());
}

WorkBatch WorkQueue::take_from(Source source) {
    WorkBatch batch;
    if (source == Source::shared) {
        take_shared(batch);
    } else if (source == Source::lookups) {
        batch.form = WorkBatch::Form::lookups;
        while (!lookups_.empty() && batch.lookups.size() < limits_.share_max)
            batch.lookups.push_back(popped(lookups_).lookup);
        ++looking_up_;
    } else if (source != Source::none) {
        auto waiting = popped(source == Source::urgent ? urgent_ : alone_);
        batch.form = waiting.writes ? WorkBatch::Form::write : WorkBatch::Form::read;
        batch.works.push_back(std::move(waiting.work));
    }
    return batch;
}

WorkBatch WorkQueue::take() {
    std::unique_lock guard{mutex_};
    for (;;) {
        if (const auto source = next(); source != Source::none) {
            auto batch = take_from(source);
            PAWL_ASSERT(!batch.empty());  // An empty batch ends the connection's thread.
            wake_one();                   // Other works may wait.
            return batch;
        }
        if (stopping_) return {};  // Busy connections take what their lanes still have.
        Sleeper me;
        sleepers_.push_back(&me);
        me.woken.wait(guard, [&] { return me.awake; });
    }
}

void WorkQueue::wake_one() {
    if (sleepers_.empty() || next() == Source::none) return;
    auto* sleeper = sleepers_.back();
    sleepers_.pop_back();
    sleeper->awake = true;
    sleeper->woken.notify_one();
}

void WorkQueue::ended(WorkBatch& batch) {
    const std::lock_guard guard{mutex_};
    if (std::exchange(batch.ended, true)) return;
    if (batch.form == WorkBatch::Form::shared) --sharing_;
    if (batch.form == WorkBatch::Form::lookups) --looking_up_;
    PAWL_ASSERT(sharing_ >= 0);
    PAWL_ASSERT(looking_up_ >= 0);
    wake_one();
}

void WorkQueue::reschedule_alone(std::vector<std::unique_ptr<store::Work>> works) {
    const std::lock_guard guard{mutex_};
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 has no std::views::reverse with libstdc++.
    for (auto work = works.rbegin(); work != works.rend(); ++work) {
        PAWL_ASSERT(*work != nullptr);  // None of them has its answer yet.
        alone_.push_front({0, std::move(*work), true});
    }
    wake_one();
}

void WorkQueue::shared_went_well() {
    const std::lock_guard guard{mutex_};
    rule_.went_well();
}

void WorkQueue::shared_broke_up() {
    const std::lock_guard guard{mutex_};
    const auto now = clock_.steady();
    rule_.split(now);
    if (rule_.connections(now) > 0) return;
    for (auto& waiting : std::exchange(shared_, {})) alone_.push_back(std::move(waiting));
    wake_one();
}

void WorkQueue::keep_apart(const void* kind) {
    const std::lock_guard guard{mutex_};
    rule_.keep_apart(kind, clock_.steady());
}

void WorkQueue::threw(const void* kind) {
    const std::lock_guard guard{mutex_};
    rule_.threw(kind, clock_.steady());
}

void WorkQueue::stop() {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    for (auto* sleeper : std::exchange(sleepers_, {})) {
        sleeper->awake = true;
        sleeper->woken.notify_one();
    }
}

std::size_t WorkQueue::waiting() const {
    const std::lock_guard lock{mutex_};
    return size();
}

bool WorkQueue::is_stopping() const {
    const std::lock_guard guard{mutex_};
    return stopping_;
}

WorkBatch WorkQueue::take_all() {
    const std::lock_guard guard{mutex_};
    WorkBatch batch;
    for (auto* source : {&urgent_, &alone_, &shared_})
        for (auto& waiting : std::exchange(*source, {}))
            batch.works.push_back(std::move(waiting.work));
    for (auto& waiting : std::exchange(lookups_, {}))
        batch.lookups.push_back(std::move(waiting.lookup));
    return batch;
}

}  // namespace pawl::postgres
