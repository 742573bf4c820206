#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Encodes which offsets of a partition are done beyond the committed offset, as the commit's
// metadata. A job that waits or runs long holds the offset back, and the next owner of the
// partition must not repeat the jobs that are done after it.
//
//   1:2,3,1,9    from the committed offset: two records open, three done, one open, nine done
//
// The first number is the format's version. All after the last run is open. Empty: nothing is done.
namespace pawl::queue::kafka {

// From the first offset up to, but excluding, the second.
using Offsets = std::pair<std::int64_t, std::int64_t>;

// `open` is ascending, all in [base, next). Writes at most `bytes_max` bytes; offsets that do not
// fit count as open. A broker accepts 4,096 by default (offset.metadata.max.bytes).
std::string write_gaps(
    std::int64_t base,
    std::int64_t next,
    const std::vector<std::int64_t>& open,
    std::size_t bytes_max = 4'000
);
// The done ranges; empty if the text has another format.
std::vector<Offsets> read_gaps(std::int64_t base, std::string_view text);

}  // namespace pawl::queue::kafka
