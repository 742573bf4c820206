#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::engine {

// Decides whether to query a key before claiming it, in stores where each answer costs a round trip
// (docs/adr/0010). Most keys are new; their claim shows that by itself, and the query would be
// wasted. A known key that is not queried first costs a claim that is rolled back. So the engine
// queries keys that this process met lately, and all keys while many unmet ones turn out to be
// known, as after a restart or with several processes.
//
// Only a guess of what is cheaper: the outcome is the same. Thread-safe, without locks.
class SeenKeys {
public:
    enum class Guess {
        is_new,    // Claim it without a query.
        may_be,    // Not met here; but many such keys turned out to be known.
        is_known,  // Met here lately.
    };
    // `used`: whether the engine will ask it; if not, it takes no memory.
    explicit SeenKeys(bool used = true) : met_{used ? std::make_unique<Met>() : nullptr} {}

    // Takes a key_hash(), and remembers it as met.
    Guess guess(std::string_view hash);
    // Whether a key that was not guessed to be known was known.
    void record_outcome(bool known);

private:
    // Half a megabyte; if two keys share a place, the later one stays.
    static constexpr std::size_t places = std::size_t{1} << 16;
    // A known key weighs as much as four new ones: a rolled back claim costs about four queries.
    static constexpr int known_weight = 4;
    static constexpr int known_bound = 64;
    static constexpr int known_most = 128;

    using Met = std::array<std::atomic<std::uint64_t>, places>;
    std::unique_ptr<Met> met_;
    std::atomic<int> known_{0};
};

}  // namespace pawl::engine
