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
    double bad{0.3};       // Share of all tries that the network spoils.
    std::uint64_t seed{};  // 0: a random one.
    bool json{false};
    std::optional<std::string> problem() const;
};

// Phones on a bad network: they book random rides, lose requests and answers, send twice, and
// repeat under the same key until they have a final answer. At the end each key is sent once more:
// the answer must be the same. Prints progress each second and counts at the end; the exit code is
// 1 if an answer changed or is missing.
int simulate(const SimulateOptions& given);

}  // namespace rides
