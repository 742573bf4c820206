#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::engine {

// Whether a request looks for its key before it claims it, where each answer of the store costs a
// round trip (docs/adr/0010). Most keys are new: their claim says so by itself, and the look is a
// statement for nothing. A key that is known costs a claim undone, if it was not looked for. So one
// looks for the keys that this process met lately, and for all of them while many turn out to be
// known that it had not met: another process has, or this one before it was started anew.
//
// Only a guess, of what is cheaper: the outcome is the same either way. Thread-safe, without locks.
class FirstLook {
public:
    enum class Guess {
        is_new,    // Claim it without a look.
        may_be,    // Not met here; but so were many that turned out to be known.
        is_known,  // Met here lately.
    };
    // `looks`: it will be asked at all; else it takes no memory.
    explicit FirstLook(bool looks = true) : met_{looks ? std::make_unique<Met>() : nullptr} {}

    // Of a key's key_hash(), which has been met from now on.
    Guess guess(std::string_view hash);
    // What a key that was not guessed to be known turned out to be.
    void was(bool known);

private:
    // As many as fit into half a megabyte; of two keys in one place the later stands.
    static constexpr std::size_t places = std::size_t{1} << 16;
    // A known key weighs as four new ones: a claim undone costs about as much as four looks.
    static constexpr int known_weight = 4;
    static constexpr int known_bound = 64;
    static constexpr int known_most = 128;

    using Met = std::array<std::atomic<std::uint64_t>, places>;
    std::unique_ptr<Met> met_;
    std::atomic<int> known_{0};
};

}  // namespace pawl::engine
