#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::simulation {

// All random choices of a history, one pick at a time: drawn from a seed, or replayed. By
// convention 0 is the quiet choice (nothing fails, the first runnable step runs), so that a list
// with more zeros is a simpler history.
class Choices {
public:
    explicit Choices(std::uint64_t seed) : state_{seed * 2 + 1} {}
    // After the end of the list all choices are quiet.
    explicit Choices(std::vector<std::uint8_t> as_before)
        : replays_{true}, replayed_{std::move(as_before)} {}

    // A number below n; n is 1 to 256.
    std::size_t pick(std::size_t n) {
        return take(replays_ ? replayed(n) : static_cast<std::size_t>(next() % n), n);
    }
    // True with probability 1/n; for enumeration it is one choice between two, even if one is rare.
    bool one_in(std::size_t n) {
        return take(replays_ ? replayed(2) : static_cast<std::size_t>(next() % n == 0), 2) == 1;
    }

    const std::vector<std::uint8_t>& taken() const { return taken_; }
    // For each pick, its highest possible value.
    const std::vector<std::uint8_t>& highest() const { return highest_; }

private:
    std::size_t replayed(std::size_t n) const {
        return taken_.size() < replayed_.size() ? replayed_[taken_.size()] % n : 0;
    }
    std::size_t take(std::size_t picked, std::size_t n) {
        taken_.push_back(static_cast<std::uint8_t>(picked));
        highest_.push_back(static_cast<std::uint8_t>(n - 1));
        return picked;
    }
    // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

    bool replays_{false};
    std::uint64_t state_{0};
    std::vector<std::uint8_t> replayed_;
    std::vector<std::uint8_t> taken_;
    std::vector<std::uint8_t> highest_;
};

// Two hex digits per choice, for the command line.
std::string text_of(const std::vector<std::uint8_t>& choices);
// Throws std::invalid_argument.
std::vector<std::uint8_t> choices_of(const std::string& text);

}  // namespace pawl::simulation
