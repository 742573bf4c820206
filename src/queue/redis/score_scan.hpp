#pragma once

#include "src/redis/client.hpp"

#include <string>
#include <vector>

namespace pawl::queue::sidekiq {

inline constexpr int scan_chunk = 100;  // Read in one command.

struct ScoredMember {
    std::string score;
    std::string member;
};

// Reads a sorted set in the order of its scores, chunk by chunk. It continues by score, so that
// members that leave the set meanwhile hide none of another score. For one thread at a time.
class ScoreScan {
public:
    // The client outlives the scan.
    ScoreScan(redis::Client& client, std::string key, std::string from, std::string to = "+inf");

    // Empty at the end. Throws StoreError.
    std::vector<ScoredMember> next();

private:
    redis::Client& client_;
    std::string key_;
    std::string from_;
    std::string to_;
    int skip_{0};
    bool ended_{false};
};

}  // namespace pawl::queue::sidekiq
