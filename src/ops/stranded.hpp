#pragma once

#include "src/engine/engine.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::ops {

struct StrandedPoint {
    std::string operation;
    std::string point;
    std::int64_t keys{};
};

// Where unsettled keys stand and this program does not know the point (PAWL0007), by operation and
// point. Throws StoreError.
std::vector<StrandedPoint> stranded_points(store::Session& session, const engine::Engine& engine);

// The points at which this program can go on, as the parameter of find_completable.
enum class Steps { all, phases };
std::string known_points(const engine::Engine& engine, Steps steps = Steps::all);

}  // namespace pawl::ops
