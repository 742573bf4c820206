#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/error.hpp>
#include <pawl/isolation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::store {

using detail::Row;
using detail::Session;
using detail::Value;

// One transaction's worth of work, owned by the store from write() or read() until done() has
// returned.
class Work {
public:
    virtual ~Work() = default;
    // On a store thread, in the transaction. If it throws, all that it wrote is undone.
    virtual void run(Session& session) = 0;
    // Once, after the commit is durable (`failed` is null) or after it was undone. Quick: it only
    // hands on.
    virtual void done(std::exception_ptr failed) noexcept = 0;
    // How long run() may take before it is interrupted and undone with StoreError (deadline): a
    // phase holds up others.
    virtual std::chrono::milliseconds deadline() const { return std::chrono::seconds{5}; }
    // run() may be called again, with a fresh snapshot, when it met another transaction
    // (serialization failure, deadlock) or one that shared its own failed: it keeps nothing from
    // the run before.
    virtual Isolation isolation() const { return Isolation::read_committed; }
    // Works of one kind run the same code, so that what a store learns of one (it was slow) counts
    // for the others. Those without a kind never share a transaction where that is a choice.
    virtual const void* kind() const { return nullptr; }
};

// One statement whose rows somebody wants, in no transaction with anything else: a store may send
// many at once. Owned by the store from look() until done() has returned.
class Look {
public:
    virtual ~Look() = default;
    virtual const Sql& statement() const = 0;
    // Lives as long as the look.
    virtual std::span<const Value> parameters() const = 0;
    virtual void row(const Row& row) = 0;
    // Once, after the rows, or alone with why there are none. `now` is the database's clock.
    virtual void done(std::exception_ptr failed, TimePoint now) noexcept = 0;
};

template <class Run, class Done>
std::unique_ptr<Work> work(
    Run run,
    Done done,
    std::chrono::milliseconds deadline = std::chrono::seconds{5},
    Isolation isolation = Isolation::read_committed
) {
    class Both final : public Work {
    public:
        Both(Run at_run, Done when_done, std::chrono::milliseconds at_most, Isolation level)
            : run_{std::move(at_run)},
              done_{std::move(when_done)},
              deadline_{at_most},
              isolation_{level} {}
        void run(Session& session) override { run_(session); }
        void done(std::exception_ptr failed) noexcept override { done_(std::move(failed)); }
        std::chrono::milliseconds deadline() const override { return deadline_; }
        Isolation isolation() const override { return isolation_; }

    private:
        Run run_;
        Done done_;
        std::chrono::milliseconds deadline_;
        Isolation isolation_;
    };
    return std::make_unique<Both>(std::move(run), std::move(done), deadline, isolation);
}

// Statements of a store where each answer costs a round trip: a key that is not known to be stored
// is claimed there without a look before, under an id that was taken before.
struct IdsAhead {
    const Sql* take{};   // ($1 how many): a row for each, with an id that nobody else is given.
    const Sql* claim{};  // ($1 id, $2 hash): touches no row if the hash is claimed already.
};

struct StoreStats {
    std::uint64_t commits{};
    std::uint64_t works{};
    std::uint64_t largest_batch{};
};

// Told the hash of a key whose attempt has ended in some process, this one perhaps; without a hash:
// notices may have been lost, so look at all keys. From the store's thread; quick.
using OnNotice = std::function<void(std::string_view hash)>;

// Ends what Store::listen() began: once it is destroyed, nothing is told any more.
class Listening {
public:
    virtual ~Listening() = default;
};

enum class Urgency { normal, first };  // first: lease renewals, which must not wait behind a crowd.

// The port that every database implements; the conformance suite in tests/conformance says what it
// must do. All members may be called from any thread.
class Store {
public:
    virtual ~Store() = default;

    // Queues a write transaction. Never blocks: past the bound of what may wait, done() gets
    // StoreError (busy) at once.
    virtual void write(std::unique_ptr<Work> work, Urgency urgency) = 0;
    void write(std::unique_ptr<Work> w) { write(std::move(w), Urgency::normal); }
    // A read snapshot; writing in it is refused. An embedded store may run it before this returns.
    virtual void read(std::unique_ptr<Work> work) = 0;
    // As a read of its own, unless the store knows better.
    virtual void look(std::unique_ptr<Look> look);
    // Which text of a statement this store runs; nothing if it has none.
    virtual std::optional<std::string_view> text_of(const Sql& statement) const = 0;
    // Nothing where the store is in this process.
    virtual std::optional<IdsAhead> ids_ahead() const { return std::nullopt; }
    // Nobody but this process writes here, so that a lease found at its start is a dead one's.
    virtual bool serves_one_process() const { return true; }
    // Word between the processes that share a database, for whoever waits for a key that another
    // holds. Neither promises anything: a notice may be lost, late or needless, and who waits looks
    // by itself now and then. Neither blocks. By default there is nobody to tell.
    virtual void notify(std::string_view) {}
    // NOLINTNEXTLINE(performance-unnecessary-value-param): whoever listens keeps it.
    virtual std::unique_ptr<Listening> listen(OnNotice) { return nullptr; }
    // Since it was opened. How many works shared a commit says how well requests travel together.
    virtual StoreStats stats() const { return {}; }
    // Lets what was queued end, then refuses all else.
    virtual void stop() = 0;
};

// After run(): what a store must not commit.
void check_phase_end(bool deadline_passed, bool statement_failed);
[[noreturn]] void throw_fenced(std::string_view statement);

// Whether it is a StoreError of which `such` says so. Null is none.
template <class F>
bool is_store_error(const std::exception_ptr& failed, F such) {
    if (!failed) return false;
    try {
        std::rethrow_exception(failed);
    } catch (const StoreError& error) {
        return such(error);
    } catch (...) {
        return false;
    }
}

inline bool is_store_error(const std::exception_ptr& failed, StoreError::Kind kind) {
    return is_store_error(failed, [kind](const StoreError& error) { return error.kind() == kind; });
}

// What a store answers where it takes no more work.
std::exception_ptr stopped();
std::exception_ptr too_many_wait(std::size_t waiting_max);

// Blocking forms, for tools, start-up and tests: never on a thread that serves requests.
template <class F>
auto write_now(
    Store& store,
    F f,
    std::chrono::milliseconds deadline = std::chrono::seconds{5},
    Isolation isolation = Isolation::read_committed
);
template <class F>
auto read_now(Store& store, F f);

}  // namespace pawl::store

#include "src/store/blocking.hpp"
