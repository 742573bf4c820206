#pragma once

#include "src/redis/client.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pawl::queue::sidekiq {

inline constexpr int scan_chunk = 100;  // Read in one command.
// And no more after so many bytes: others than Pawl write there, too.
inline constexpr std::size_t scan_bytes = std::size_t{16} << 20U;

struct ScoredMember {
    // A member that is too large to be read: `member` has its beginning.
    struct Large {
        std::size_t size{};
        std::string sha1;
    };
    std::string score;
    std::string member;
    std::optional<Large> large{};
};
// A member and its score, as the script score_page returns them.
ScoredMember scored_member(std::string member, std::string score);

// Reads a sorted set in the order of its scores, chunk by chunk. It continues by score, so that
// members that leave the set meanwhile hide none of another score. For one thread at a time.
class ScoreScan {
public:
    // The client outlives the scan. `member_max`: the bytes of the largest member that is read;
    // nullopt: all are.
    ScoreScan(
        redis::Client& client,
        std::string key,
        std::string from,
        std::string to = "+inf",
        std::optional<std::size_t> member_max = std::nullopt
    );

    // Empty at the end. Throws StoreError.
    std::vector<ScoredMember> next();

private:
    redis::Client& client_;
    std::string key_;
    std::string from_;
    std::string to_;
    std::optional<std::size_t> member_max_;
    int skip_{0};
    bool ended_{false};
};

}  // namespace pawl::queue::sidekiq
