#pragma once

#include <compare>
#include <cstdint>

namespace pawl {

// An amount with a fixed number of decimals, counted in its smallest unit: Decimal<2>{1234} is
// "12.34" in JSON, as a string, because a JSON number may lose digits on its way. Read are texts
// with at most that many decimals: "12", "12.3", "-0.34". In a statement it is the whole number of
// units.
template <int Decimals>
struct Decimal {
    static_assert(Decimals >= 0 && Decimals <= 18);
    std::int64_t units{};
    friend auto operator<=>(const Decimal&, const Decimal&) = default;
};

}  // namespace pawl
