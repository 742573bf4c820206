#pragma once

#include "src/engine/engine.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace pawl::ops {

// Shows operators which providers do not answer this server: in its row in pawl_servers, which is
// written within a second of a change.
class ProvidersDown {
public:
    explicit ProvidersDown(engine::Engine& engine) : engine_{engine} {}  // The engine outlives it.

    // Throws StoreError.
    void run_once();
    void run(const std::stop_token& stop);

private:
    engine::Engine& engine_;
    std::optional<std::int64_t> server_;  // Whose row has `written_`.
    std::string written_;
};

}  // namespace pawl::ops
