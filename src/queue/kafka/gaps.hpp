#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What of a partition is done beyond the offset that is committed for it, as the commit's metadata:
// a job that waits or works long holds the offset back, and who takes the partition over must not
// do again what was done behind it.
//
//   1:2,3,1,9    at the committed offset two records are open, then three done, one open, nine done
//
// The first number is the form. What is behind the last run is open. No metadata: nothing is done.
namespace pawl::queue::kafka {

// From the first offset to before the second.
using Offsets = std::pair<std::int64_t, std::int64_t>;

// `open`: ascending, all in [base, next). At most `bytes_max` bytes: what does not fit is open. A
// broker takes 4,096 by default (offset.metadata.max.bytes).
std::string write_gaps(
    std::int64_t base,
    std::int64_t next,
    const std::vector<std::int64_t>& open,
    std::size_t bytes_max = 4'000
);
// What is done. Nothing if the text is another's.
std::vector<Offsets> read_gaps(std::int64_t base, std::string_view text);

}  // namespace pawl::queue::kafka
