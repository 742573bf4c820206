#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/options.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace pawl::postgres {

// NOTIFY and LISTEN, and a lock by which other servers see that this process lives, on a connection
// and a thread of their own, both created on first use. Does not work through PgBouncer in
// transaction mode (notify=off).
//
// NOTIFY is not part of the transaction that ends the attempt: PostgreSQL lets only one transaction
// with a NOTIFY commit at a time in the whole cluster, and others wait while it waits for the disk.
// Without it the same 16 connections write three times as much (docs/adr/0007). If a process dies
// before it notifies, a poll finds the result. Under load one statement carries the notices of ten
// milliseconds.
//
// A broken connection is reopened, with back-off. Notices to be sent meanwhile are dropped;
// listeners are told that notices may have been lost.
class Notices {
public:
    // All outlive this object.
    Notices(const PostgresOptions& options, base::Clock& clock, base::Random& random);
    ~Notices();
    Notices(const Notices&) = delete;
    Notices& operator=(const Notices&) = delete;

    void notify(std::string_view hash);
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice);
    // As Store::session_lock().
    std::optional<std::int64_t> session_lock();
    void stop();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::postgres
