#include "src/locks/store_lease_backend.hpp"

#include <pawl/detail/rows.hpp>

#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <string>

namespace pawl::locks {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;
using detail::execute_statement;
using detail::read_row;

constexpr milliseconds locked_for = 100ms;  // The time left is unknown: retry soon.

struct Found {
    std::int64_t epoch{};
    std::optional<std::string> holder;
    TimePoint until;
    std::int64_t ttl_ms{};

    core::LeaseFacts facts() const { return {epoch, holder, until, milliseconds{ttl_ms}}; }
};

// nullopt: a new name.
std::optional<Found> lock(store::Session& session, std::string_view name) {
    const auto read = [](const detail::Row& row) {
        return detail::row_as<Found>(row, sql::lock_lease.name);
    };
    return read_row(session, sql::lock_lease, read, name);
}

// A process that is paused with the row lock loses it in time for the holder to renew.
milliseconds deadline_of(milliseconds ttl) {
    return std::clamp<milliseconds>(ttl / 4, 100ms, 5s);
}

// try_acquire() does not wait for a process that is paused while it holds the row lock; the lock
// timeout fires before the deadline.
milliseconds lock_timeout_of(milliseconds ttl) {
    return std::min<milliseconds>(500ms, deadline_of(ttl) / 2);
}

core::LeaseChoice acquire_in(
    store::Session& session, std::string_view name, std::string_view holder, milliseconds ttl
) {
    session.set_lock_timeout(lock_timeout_of(ttl));
    const auto found = lock(session, name);
    const auto facts = found ? std::optional{found->facts()} : std::nullopt;
    const auto now = session.now();
    const auto choice = core::decide_lease(facts ? &*facts : nullptr, holder, now);
    if (!std::holds_alternative<core::LeaseAcquired>(choice)) return choice;
    const auto until = now + ttl;
    const auto touched =
        found ? execute_statement(
                    session, sql::acquire_lease, name, found->epoch, holder, until, ttl.count()
                )
              : execute_statement(session, sql::insert_lease, name, holder, until, ttl.count());
    if (touched == 0) return core::LeaseHeld{locked_for};  // Another process has just made the row.
    return choice;
}

// Ahead of requests' works, so that leases do not wait behind a queue.
template <class F>
auto write_first(store::Store& store, milliseconds deadline, F f) {
    return store::run_and_wait(
        [&store](std::unique_ptr<store::Work> w) {
            store.write(std::move(w), store::Urgency::first);
        },
        f,
        deadline
    );
}

class StoreLeaseBackend final : public LeaseBackend {
public:
    explicit StoreLeaseBackend(store::Store& store) : store_{store} {}

    core::LeaseChoice acquire(std::string_view name, std::string_view holder, milliseconds ttl)
        override {
        try {
            return write_first(store_, deadline_of(ttl), [&](store::Session& session) {
                return acquire_in(session, name, holder, ttl);
            });
        } catch (const StoreError& error) {
            if (error.kind() != StoreError::Kind::locked) throw;
            return core::LeaseHeld{locked_for};
        }
    }

    bool extend(
        std::string_view name, std::int64_t epoch, std::string_view holder, milliseconds ttl
    ) override {
        return write_first(store_, deadline_of(ttl), [&](store::Session& session) {
            const auto found = lock(session, name);
            const auto facts = found ? std::optional{found->facts()} : std::nullopt;
            const auto now = session.now();
            if (!core::may_extend(facts ? &*facts : nullptr, epoch, holder, now)) return false;
            return execute_statement(session, sql::extend_lease, name, epoch, holder, now + ttl) ==
                   1;
        });
    }

    void release(std::string_view name, std::string_view holder) override {
        write_first(store_, 5s, [&](store::Session& session) {
            execute_statement(session, sql::release_lease, name, holder);
        });
    }

private:
    store::Store& store_;
};

}  // namespace

std::unique_ptr<LeaseBackend> store_lease_backend(store::Store& store) {
    return std::make_unique<StoreLeaseBackend>(store);
}

}  // namespace pawl::locks
