#pragma once

#include <pawl/database.hpp>
#include <pawl/detail/json_types.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

// A lock by name for work outside any transaction, that ends by itself if its holder dies. No lease
// guards anything alone: a process that is paused past its end wakes and goes on. What guards is
// the fence, a number that grows with each holder, looked at where the data is: hand
// Lease::fence() to whatever you write to. docs/howto/locks.md.
//
//   pawl::Leases leases{database};
//   if (auto lease = leases.try_acquire("nightly report")) {
//       const auto report = make_report(lease->lost());          // Minutes; stops when it is lost.
//       database.write([&](pawl::Tx& tx) {
//           pawl::fenced(tx, lease->fence());                    // FencedOff: another is on.
//           pawl::execute(tx, sql::insert_report, report);
//       });
//   }
namespace pawl {

using namespace std::chrono_literals;

namespace locks {
class Book;
struct Held;
}  // namespace locks

struct LeaseOptions {
    // How long others wait for a dead holder: 100 ms to 1 h. Renewed at a third of it; its holder
    // takes it for lost a tenth before its end, which is how far the clocks may run apart.
    std::chrono::milliseconds ttl{30s};

    std::optional<std::string> problem() const;
};

// The right to write on behalf of a lease. A value: it may be copied and sent along.
class Fence {
public:
    // From whoever holds the lease, over the wire. Throws std::invalid_argument for what no lease
    // can have.
    static Fence received(std::string name, std::int64_t epoch);

    const std::string& name() const { return name_; }
    // Above that of every holder before; from 1 in a database, from the time in Redis.
    std::int64_t epoch() const { return epoch_; }

private:
    friend class Lease;
    Fence(std::string name, std::int64_t epoch) : name_{std::move(name)}, epoch_{epoch} {}

    std::string name_;
    std::int64_t epoch_;
};

// What both kinds of lease can do. Its members may be called from any thread, but for moving and
// destroying it. Destroyed, it is given back, except within a transaction, where it ends by time.
class HeldLease {
public:
    HeldLease(HeldLease&& other) noexcept;
    HeldLease& operator=(HeldLease&& other) noexcept;  // What it held is given back.
    ~HeldLease();

    const std::string& name() const;
    // By the steady clock of this process, which goes on while the process is paused: no renewal
    // came in time, if false. True says nothing of the next moment.
    bool is_held() const noexcept;
    // Requested once when it is lost, not when it is given back. A callback runs on a thread of the
    // leases: it is quick, and destroys no lease.
    std::stop_token lost() const;
    // Others may have it at once. False if it was lost before, or if the place was not reached:
    // then it ends by itself.
    bool give_back() noexcept;

protected:
    explicit HeldLease(std::shared_ptr<locks::Book> book, std::shared_ptr<locks::Held> held);
    std::int64_t epoch() const;

private:
    std::shared_ptr<locks::Book> book_;
    std::shared_ptr<locks::Held> held_;  // Null once it is moved from.
};

// A lease whose epoch is never given twice.
class Lease final : public HeldLease {
public:
    // Also once it is lost: the data refuses it by itself.
    Fence fence() const { return {name(), epoch()}; }

private:
    friend class Leases;
    using HeldLease::HeldLease;
};

// A lease that saves work, and guards nothing: now and then two have it.
class EfficiencyLease final : public HeldLease {
public:
    // There is none; this one is there for its sentence.
    template <class T = void>
    void fence() const {
        static_assert(
            detail::never<T>,
            "pawl: an efficiency lease has no fence, as its place may give an epoch again: take a "
            "Lease"
        );
    }

private:
    friend class EfficiencyLeases;
    using HeldLease::HeldLease;
};

// Leases in one place, shared by all processes that name the same place. Thread-safe; their
// renewals share a thread. No function may be called within a transaction: std::logic_error.
// Each throws std::invalid_argument for a name that has not 1 to 200 bytes of UTF-8, or options
// that have a problem, and StoreError where the place is not reached: then the lease may have been
// taken, and ends by time.
class Leases {
public:
    // In the database's own table. The database outlives this, and every lease of it.
    explicit Leases(Database& database);
    // redis://HOST[:PORT][/DB]. Throws StoreError (refused, PAWL0030) if this Redis may lose what
    // it has acknowledged, and with it an epoch; so does each acquisition from then on.
    static Leases in_redis(const std::string& url);

    // Nothing if another has it.
    std::optional<Lease> try_acquire(std::string_view name, const LeaseOptions& options = {});
    // Waits for it, looking again and again, in no order. Nothing once `wait` is over, or stop is
    // requested. What passes, such as a database that is away, is waited out, too.
    std::optional<Lease> acquire(
        std::string_view name,
        std::chrono::milliseconds wait,
        const LeaseOptions& options = {},
        const std::stop_token& stop = {}
    );

private:
    explicit Leases(std::shared_ptr<locks::Book> book);
    std::shared_ptr<locks::Book> book_;
};

// The same, of which none fences: any Redis that does not evict (PAWL0011).
class EfficiencyLeases {
public:
    static EfficiencyLeases in_redis(const std::string& url);

    std::optional<EfficiencyLease> try_acquire(
        std::string_view name, const LeaseOptions& options = {}
    );
    std::optional<EfficiencyLease> acquire(
        std::string_view name,
        std::chrono::milliseconds wait,
        const LeaseOptions& options = {},
        const std::stop_token& stop = {}
    );

private:
    explicit EfficiencyLeases(std::shared_ptr<locks::Book> book);
    std::shared_ptr<locks::Book> book_;
};

// A later holder of the lease has written already. Nothing was written by this fence: a phase may
// answer and commit, or let it go through, which undoes all.
class FencedOff : public std::runtime_error {
public:
    FencedOff(const Fence& fence, std::int64_t seen);
    std::int64_t epoch() const noexcept { return epoch_; }
    std::int64_t seen() const noexcept { return seen_; }  // The highest.

private:
    std::int64_t epoch_;
    std::int64_t seen_;
};

// Call it in the transaction that writes the guarded data, in the database where the data is. Notes
// the epoch, and from the commit on refuses every lower one of this name; whoever comes meanwhile
// waits for that commit. The same epoch may come again. Throws FencedOff; StoreError.
void fenced(Tx& tx, const Fence& fence);

}  // namespace pawl
