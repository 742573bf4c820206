#include "src/engine/seen_keys.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::engine {

namespace {

constexpr std::size_t digits_used = 16;  // Of 32 digits: collisions are very rare.

std::uint64_t number_of(std::string_view hash) {
    std::uint64_t number = 0;
    const auto* end = hash.data() + std::min(hash.size(), digits_used);
    std::from_chars(hash.data(), end, number, 16);
    return number;
}

}  // namespace

SeenKeys::Guess SeenKeys::guess(std::string_view hash) {
    const auto number = number_of(hash);
    if ((*met_)[number % places].exchange(number, std::memory_order_relaxed) == number)
        return Guess::is_known;
    return known_.load(std::memory_order_relaxed) < known_bound ? Guess::is_new : Guess::may_be;
}

// Concurrent calls may count as one: it is only a guess.
void SeenKeys::record_outcome(bool known) {
    const auto now = known_.load(std::memory_order_relaxed);
    if (known)
        known_.store(std::min(now + known_weight, known_most), std::memory_order_relaxed);
    else if (now > 0)
        known_.store(now - 1, std::memory_order_relaxed);
}

}  // namespace pawl::engine
