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

// A lock by name for work outside of transactions, which ends by itself if its holder dies. A lease
// alone guards nothing: a process that is paused past its end wakes and goes on. The guard is the
// fence, a number that grows with each holder and is checked where the data is: pass
// Lease::fencing_token() to whatever you write to. docs/howto/locks.md.
//
//   pawl::Leases leases{database};
//   if (auto lease = leases.try_acquire("nightly report")) {
//       const auto report = make_report(lease->lost());          // Minutes; stops when it is lost.
//       database.write([&](pawl::Tx& tx) {
//           // Throws StaleFencingToken if another holder has written.
//           pawl::check_fencing_token(tx, lease->fencing_token());
//           pawl::execute(tx, sql::insert_report, report);
//       });
//   }
namespace pawl {

using namespace std::chrono_literals;

namespace locks {
class LeaseTable;
struct Held;
}  // namespace locks

struct LeaseOptions {
    // How long others wait for a dead holder: 100 ms to 1 h. Renewed after a third of it; the
    // holder considers it lost a tenth before its end, which is how far the clocks may differ.
    std::chrono::milliseconds ttl{30s};

    std::optional<std::string> problem() const;
};

// The right to write on behalf of a lease. A value: it may be copied and sent.
class FencingToken {
public:
    // For a fence that was received over the network. Throws std::invalid_argument for an
    // impossible name or epoch.
    static FencingToken received(std::string name, std::int64_t epoch);

    const std::string& name() const { return name_; }
    // Above that of every earlier holder; starts at 1 in a database, and at the time in Redis.
    std::int64_t epoch() const { return epoch_; }

private:
    friend class Lease;
    FencingToken(std::string name, std::int64_t epoch) : name_{std::move(name)}, epoch_{epoch} {}

    std::string name_;
    std::int64_t epoch_;
};

// The common part of both kinds of lease. Thread-safe, except for moving and destroying it. The
// destructor gives the lease back, except within a transaction, where it ends by time.
class HeldLease {
public:
    HeldLease(HeldLease&& other) noexcept;
    HeldLease& operator=(HeldLease&& other) noexcept;  // Releases what it held.
    ~HeldLease();

    const std::string& name() const;
    // By the steady clock of this process, which goes on while the process is paused. False: no
    // renewal came in time. True says nothing about the next moment.
    bool is_held() const noexcept;
    // Requested once when the lease is lost, not when it is released. Callbacks run on a thread
    // of the leases; they must be quick and must not destroy a lease.
    std::stop_token lost() const;
    // Others may acquire it at once. False if it was already lost, or if the backend was not
    // reached: then it ends by itself.
    bool release() noexcept;

protected:
    explicit HeldLease(std::shared_ptr<locks::LeaseTable> table, std::shared_ptr<locks::Held> held);
    std::int64_t epoch() const;

private:
    std::shared_ptr<locks::LeaseTable> table_;
    std::shared_ptr<locks::Held> held_;  // nullptr after a move.
};

// A lease whose epoch is never given twice.
class Lease final : public HeldLease {
public:
    // Also valid once the lease is lost: the data then refuses it.
    FencingToken fencing_token() const { return {name(), epoch()}; }

private:
    friend class Leases;
    using HeldLease::HeldLease;
};

// A lease that saves work but guards nothing: sometimes two holders have it.
class EfficiencyLease final : public HeldLease {
public:
    // Deliberately unusable: it gives the compile error a readable message.
    template <class T = void>
    void fencing_token() const {
        static_assert(
            detail::never<T>,
            "pawl: an efficiency lease has no fencing token, as its backend may repeat an epoch: "
            "use a "
            "Lease"
        );
    }

private:
    friend class EfficiencyLeases;
    using HeldLease::HeldLease;
};

// Leases of one backend, shared by all processes that use it. Thread-safe; one thread renews them
// all. Must not be called within a transaction: std::logic_error. Each function throws
// std::invalid_argument for a name that is not 1 to 200 bytes of UTF-8 or for invalid options, and
// StoreError if the backend is not reached: then the lease may have been taken, and ends by time.
class Leases {
public:
    // In the database's own table. The database outlives this object and every lease of it.
    explicit Leases(Database& database);
    // redis://HOST[:PORT][/DB]. Throws StoreError (refused, PAWL0030) if this Redis may lose
    // acknowledged writes, and with them an epoch; each later acquisition checks it again.
    static Leases in_redis(const std::string& url);

    // nullopt: another holder has it.
    std::optional<Lease> try_acquire(std::string_view name, const LeaseOptions& options = {});
    // Waits for the lease by polling, without an order among waiters. nullopt: `wait` has passed,
    // or stop was requested. Waits through temporary errors, too.
    std::optional<Lease> acquire(
        std::string_view name,
        std::chrono::milliseconds wait,
        const LeaseOptions& options = {},
        const std::stop_token& stop = {}
    );

private:
    explicit Leases(std::shared_ptr<locks::LeaseTable> table);
    std::shared_ptr<locks::LeaseTable> table_;
};

// The same without fences: any Redis that does not evict (PAWL0011).
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
    explicit EfficiencyLeases(std::shared_ptr<locks::LeaseTable> table);
    std::shared_ptr<locks::LeaseTable> table_;
};

// A later holder of the lease has already written, and nothing was written with this fence. A phase
// may catch it, answer and commit, or let it through, which rolls back.
class StaleFencingToken : public std::runtime_error {
public:
    StaleFencingToken(const FencingToken& token, std::int64_t seen);
    std::int64_t epoch() const noexcept { return epoch_; }
    std::int64_t seen() const noexcept { return seen_; }  // The highest.

private:
    std::int64_t epoch_;
    std::int64_t seen_;
};

// Call it in the transaction that writes the guarded data, in the database of that data. Records
// the epoch; from the commit on every lower one of this name is refused, and concurrent callers
// wait for that commit. The same epoch may be used again. Throws StaleFencingToken; StoreError.
void check_fencing_token(Tx& tx, const FencingToken& token);

}  // namespace pawl
