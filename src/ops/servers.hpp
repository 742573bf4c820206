#pragma once

#include "src/base/clock.hpp"
#include "src/core/server_watch.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

namespace pawl::ops {

using namespace std::chrono_literals;

struct ServersOptions {
    core::ServerTimes times{};
    // CompleterOptions::grace: the keys of an ended server do not wait for it.
    std::chrono::milliseconds complete_after{5s};
    std::string_view version{"none"};  // Of the library, for `servers list`.
};

struct EndedServer {
    std::int64_t keys{};
    std::int64_t jobs{};
    std::int64_t staged_jobs{};
};

// This server's row in pawl_servers with its beats, and the ends of the others: when one has ended,
// its keys and jobs are free at once, not at the end of their leases. Which server has ended:
// core::ServerWatch. If it lives after all, only its leases are lost, and the fences hold.
//
// A store that serves one process has one row, without beats: there run() is not run, and the next
// start ends what it left.
class Servers {
public:
    // Both outlive it.
    Servers(store::Store& store, base::Clock& clock, ServersOptions options);

    // Called after the leases of an ended server were ended, on this service's thread. Set before
    // run().
    void on_ended(std::function<void(const EndedServer&)> f) { on_ended_ = std::move(f); }

    // Writes the row, whose id the store then has for all claims. Throws StoreError.
    void start();
    // A beat, and a look at the others. Throws StoreError.
    void run_once();
    void run(const std::stop_token& stop);
    // At the end of a server that holds nothing any more: removes the row. Throws StoreError.
    void leave();

private:
    bool beat();
    void look();
    void end(const core::SilentServer& silent);

    store::Store& store_;
    base::Clock& clock_;
    ServersOptions options_;
    core::ServerWatch watch_;
    std::function<void(const EndedServer&)> on_ended_;
    std::optional<std::int64_t> id_;
};

}  // namespace pawl::ops
