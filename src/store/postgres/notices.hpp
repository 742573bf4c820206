#pragma once

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/store/postgres/options.hpp"
#include "src/store/store.hpp"

#include <memory>
#include <string_view>

namespace pawl::postgres {

// NOTIFY and LISTEN, on one connection and thread of their own, both made when they are first asked
// for: not through PgBouncer in transaction mode, where nothing can be heard (notify=off).
//
// Not in the transaction that ends the attempt. PostgreSQL lets one transaction with a NOTIFY
// commit at a time, in the whole cluster, and holds the others up while that one waits for the
// disk; beside it the same 16 connections write three times as much (docs/adr/0007). What a process
// that dies in between does not say is found by a look. Under load one statement carries the
// notices of ten milliseconds.
//
// A connection that breaks is made anew, with back-off. What was to be sent meanwhile is dropped;
// whoever listens is told that something may have been lost.
class Notices {
public:
    // They outlive it.
    Notices(const PostgresOptions& options, base::Clock& clock, base::Random& random);
    ~Notices();
    Notices(const Notices&) = delete;
    Notices& operator=(const Notices&) = delete;

    void notify(std::string_view hash);
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice);
    void stop();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::postgres
