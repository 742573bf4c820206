#include "benchmarks/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pawl::bench {

// Values below 64 have a bucket each. Above, the highest bit names the octave and the six bits
// after it the place.
std::size_t Histogram::bucket_of(std::uint64_t value) {
    if (value < in_octave) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - bits;
    return (shift + 1) * in_octave + static_cast<std::size_t>((value >> shift) - in_octave);
}

std::uint64_t Histogram::upper_end(std::size_t bucket) {
    if (bucket < in_octave) return bucket;
    const auto shift = bucket / in_octave - 1;
    return ((in_octave + bucket % in_octave + 1) << shift) - 1;
}

void Histogram::add(std::uint64_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    largest_ = std::max(largest_, value);
}

std::uint64_t Histogram::at(double share) const {
    if (count_ == 0) return 0;
    const auto asked = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    const auto wanted = std::clamp<std::uint64_t>(asked, 1, count_);
    std::uint64_t passed = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        passed += buckets_[bucket];
        if (passed >= wanted) return std::min(upper_end(bucket), largest_);
    }
    return largest_;
}

}  // namespace pawl::bench
