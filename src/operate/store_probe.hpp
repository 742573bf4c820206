#pragma once

#include "src/base/clock.hpp"
#include "src/store/store.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace pawl::operate {

using namespace std::chrono_literals;

// Writes this server's row each second, as any request writes, and so knows whether the database
// takes writes and how long one lasts. The log gets `store_down` and `store_up`. Thread-safe.
class StoreProbe {
public:
    static constexpr std::chrono::milliseconds every{1s};
    // A write that takes longer counts as none.
    static constexpr std::chrono::milliseconds answer_max{2s};

    using OnWrite = std::function<void(std::chrono::nanoseconds took)>;

    // The store and the clock outlive the probe, and `on_write` the store's last work.
    StoreProbe(store::Store& store, base::Clock& clock, OnWrite on_write);

    // Sends a write unless one is under way, and does not wait for it.
    void run_once();
    void run(const std::stop_token& stop);
    // Why the database takes no writes; nullopt: it does.
    std::optional<std::string> down() const;

private:
    // Shared with the write under way, which may outlive the probe.
    struct State;
    std::shared_ptr<State> state_;
    store::Store& store_;
};

}  // namespace pawl::operate
