#pragma once

#include <chrono>
#include <variant>

namespace pawl::core {

struct TryAgainIn {
    std::chrono::milliseconds wait;
};
struct NoMoreTries {};
using AfterFailure = std::variant<TryAgainIn, NoMoreTries>;

// `first` doubled `times` times, at most `longest`.
std::chrono::milliseconds exponential_backoff(
    std::chrono::milliseconds first, std::chrono::milliseconds longest, int times
) noexcept;

// `wait` times `factor`: for jitter.
std::chrono::milliseconds scaled(std::chrono::milliseconds wait, double factor) noexcept;

}  // namespace pawl::core
