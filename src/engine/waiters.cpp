#include "src/engine/waiters.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/claim_rule.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <utility>

namespace pawl::engine {

namespace {

// A JSON list, for both databases. Hashes are hex and need no escapes.
std::string list_of(const std::vector<std::string>& hashes) {
    std::string list{"["};
    for (const auto& hash : hashes)
        list.append(list.size() == 1 ? "\"" : ",\"").append(hash).append("\"");
    return list + "]";
}

std::vector<std::string> find_held(
    store::Session& session, const std::vector<std::string>& hashes, std::chrono::milliseconds lease
) {
    const auto now = session.now();
    auto held = detail::read_rows(
        session,
        sql::find_held,
        [](const detail::Row& row) { return std::string{row.text(0)}; },
        list_of(hashes),
        now,
        core::lease_bound(now, lease)
    );
    std::sort(held.begin(), held.end());
    return held;
}

}  // namespace

Waiters::Parked Waiters::park(
    const std::string& hash, std::chrono::steady_clock::time_point until, const Wake& wake
) {
    Seen seen{hash};
    bool first = false;
    {
        const std::lock_guard lock{mutex_};
        if (stopping_) return Parked::stopping;
        if (waiting_.size() >= options_.keys_max) return Parked::too_many;
        seen.id = next_id_++;
        waiting_.insert_or_assign(hash, Entry{seen.id, wake});
        first = !std::exchange(listens_, true);
        if (!polling_) plan_poll();
        ++parking_;
    }
    struct Parking {
        Waiters& self;
        ~Parking() { self.end_parking(); }
    };
    const Parking parking{*this};
    if (first) listen();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.steady());
    timers_.after(left, [this, seen] { on_late(seen); });
    return Parked::waits;
}

// Notifies with the mutex held, as a thread in finish() may destroy this object at once.
void Waiters::end_parking() {
    const std::lock_guard lock{mutex_};
    --parking_;
    looked_.notify_all();
}

// Never ends: a process that has waited once will wait again.
void Waiters::listen() {
    auto listening = store_.listen([this](std::string_view hash) { on_notice(hash); });
    const std::lock_guard lock{mutex_};
    listening_ = std::move(listening);
}

void Waiters::stop() {
    std::unordered_map<std::string, Entry> woken;
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        woken.swap(waiting_);
    }
    for (auto& [hash, entry] : woken) entry.wake(Woken::stopping);
}

void Waiters::finish() {
    std::unique_lock lock{mutex_};
    looked_.wait(lock, [this] { return !polling_ && parking_ == 0; });
    const auto ended = std::move(listening_);
    lock.unlock();  // A notice being delivered needs the mutex.
}

std::size_t Waiters::size() const {
    const std::lock_guard lock{mutex_};
    return waiting_.size();
}

void Waiters::on_notice(std::string_view hash) {
    Wake wake;
    {
        const std::lock_guard lock{mutex_};
        if (const auto at = waiting_.find(std::string{hash}); at != waiting_.end()) {
            wake = std::move(at->second.wake);
            waiting_.erase(at);
        }
        if (hash.empty()) look_again_ = polling_;
    }
    if (wake) return wake(Woken::retry_claim);
    if (hash.empty()) poll();
}

void Waiters::on_late(const Seen& seen) {
    if (const auto wake = take(seen)) wake(Woken::too_late);
}

// Ends a stay and returns its wake; empty: already ended.
Waiters::Wake Waiters::take(const Seen& seen) {
    const std::lock_guard lock{mutex_};
    const auto at = waiting_.find(seen.hash);
    if (at == waiting_.end() || at->second.id != seen.id) return nullptr;
    auto wake = std::move(at->second.wake);
    waiting_.erase(at);
    return wake;
}

// Called with the mutex held.
void Waiters::plan_poll() {
    if (std::exchange(planned_, true)) return;
    timers_.after(options_.every, [this] {
        {
            const std::lock_guard lock{mutex_};
            planned_ = false;
        }
        poll();
    });
}

void Waiters::poll() {
    std::shared_ptr<Poll> poll;
    {
        const std::lock_guard lock{mutex_};
        if (!polling_) poll = begin_poll();
    }
    if (poll) run_poll(poll);
}

// Called with the mutex held. One query at a time, so that a slow database gets no more of them.
std::shared_ptr<Waiters::Poll> Waiters::begin_poll() {
    polling_ = !stopping_ && !waiting_.empty();
    if (!polling_) return nullptr;
    auto poll = std::make_shared<Poll>();  // Shared by the read's callbacks.
    for (const auto& [hash, entry] : waiting_) poll->asked.push_back({hash, entry.id});
    return poll;
}

void Waiters::run_poll(const std::shared_ptr<Poll>& poll) {
    store_.read(store::work(
        [poll, lease = options_.lease](store::Session& session) {
            std::vector<std::string> hashes;
            for (const auto& seen : poll->asked) hashes.push_back(seen.hash);
            poll->held = find_held(session, hashes, lease);
        },
        [this, poll](const std::exception_ptr& failed) {
            // The next query wakes them, or the end of their time.
            if (failed) poll->asked.clear();
            on_polled(*poll);
        }
    ));
}

void Waiters::on_polled(const Poll& poll) {
    for (const auto& seen : poll.asked) {
        if (std::binary_search(poll.held.begin(), poll.held.end(), seen.hash)) continue;
        if (const auto wake = take(seen)) wake(Woken::retry_claim);
    }
    std::shared_ptr<Poll> next;
    {
        const std::lock_guard lock{mutex_};
        polling_ = false;
        if (std::exchange(look_again_, false)) next = begin_poll();
        if (!polling_ && !waiting_.empty() && !stopping_) plan_poll();
        if (!polling_) looked_.notify_all();
    }
    if (next) run_poll(next);
}

}  // namespace pawl::engine
