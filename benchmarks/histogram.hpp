#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pawl::bench {

// Counts durations in buckets that grow with the value: 64 for each power of two, so that a
// percentile is off by at most one part in 64, at any size, in 30 KiB.
class Histogram {
public:
    void add(std::uint64_t value);
    std::uint64_t count() const { return count_; }
    std::uint64_t largest() const { return largest_; }
    // The upper end of the bucket below which this share of the values lies, never above largest().
    // 0 if there are no values.
    std::uint64_t at(double share) const;

private:
    static constexpr unsigned bits = 6;
    static constexpr std::size_t in_octave = std::size_t{1} << bits;
    static std::size_t bucket_of(std::uint64_t value);
    static std::uint64_t upper_end(std::size_t bucket);

    std::array<std::uint64_t, (64 - bits + 1) * in_octave> buckets_{};
    std::uint64_t count_{0};
    std::uint64_t largest_{0};
};

}  // namespace pawl::bench
