#include "src/core/worker_shares.hpp"

#include <algorithm>

namespace pawl::core {

int workers_of_a_kind(int workers, std::size_t kinds) noexcept {
    if (kinds < 2) return workers;
    return std::max(workers - std::max(workers / 4, workers > 1 ? 1 : 0), 1);
}

std::vector<int> workers_of_layers(int workers, std::size_t layers) {
    if (workers < 1 || layers == 0) return {};
    std::vector<int> shares(layers, 1);
    const auto half = workers / 2;
    for (int spare = half - static_cast<int>(layers); spare > 0;)
        for (std::size_t i = 0; i < layers && spare > 0; ++i, --spare) ++shares[i];
    return shares;
}

}  // namespace pawl::core
