#pragma once

#include "src/base/random.hpp"

#include <cstdint>

namespace rides {

// How a bad line to a stand-in spoils its requests, and what the stand-in refuses: shares of all
// requests that would move money.
struct Losses {
    double bad_line{};  // A quarter each: not arrived, arrived without an answer, arrived late,
                        // refused as the server is unavailable.
    double soft_declines{};  // Another provider may accept.
    double hard_declines{};
    bool any() const { return bad_line + soft_declines + hard_declines > 0; }
};

enum class Fate { serve, lost, cut, late, unavailable, decline_softly, decline };

inline Fate fate_of(const Losses& losses, double dice) {
    if (dice < losses.bad_line) {
        constexpr Fate spoilt[] = {Fate::lost, Fate::cut, Fate::late, Fate::unavailable};
        return spoilt[static_cast<int>(4 * dice / losses.bad_line) & 3];
    }
    dice -= losses.bad_line;
    if (dice < losses.soft_declines) return Fate::decline_softly;
    dice -= losses.soft_declines;
    return dice < losses.hard_declines ? Fate::decline : Fate::serve;
}

// Longer than this a request is never on its way: SecondProvider says so to those who ask.
inline constexpr int late_by_ms = 1'500;

}  // namespace rides
