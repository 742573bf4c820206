#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rides {

struct SimulateOptions {
    std::string url{"http://127.0.0.1:8080"};
    std::vector<std::string> tokens{"test_jane", "test_joe"};
    int rides{200};
    int clients{8};
    double bad{0.3};       // Part of all tries that the network spoils.
    std::uint64_t seed{};  // 0: any.
    bool json{false};
    std::optional<std::string> problem() const;
};

// Phones on a bad network: they book random rides, lose answers, send twice, lose requests, and
// repeat under the same key until they have a final answer. At the end each key is asked once more:
// whatever was told must be the same. Prints progress each second and counts at the end; the exit
// code is 1 if an answer changed or none came.
int simulate(const SimulateOptions& given);

}  // namespace rides
