#include "src/queue/redis/score_scan.hpp"

#include "src/redis/connection.hpp"

#include <utility>

namespace pawl::queue::sidekiq {

ScoreScan::ScoreScan(redis::Client& client, std::string key, std::string from, std::string to)
    : client_{client}, key_{std::move(key)}, from_{std::move(from)}, to_{std::move(to)} {}

std::vector<ScoredMember> ScoreScan::next() {
    if (ended_) return {};
    auto reply = client_.ask(
        "redis " + key_,
        {"ZRANGEBYSCORE",
         key_,
         from_,
         to_,
         "WITHSCORES",
         "LIMIT",
         std::to_string(skip_),
         std::to_string(scan_chunk)},
        redis::Access::read,
        redis::Shape::pairs
    );
    std::vector<ScoredMember> found;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
        auto& score = reply.items[i + 1].text;
        // Skips those of this score that were already read.
        skip_ = score == from_ ? skip_ + 1 : 1;
        from_ = score;
        found.push_back({std::move(score), std::move(reply.items[i].text)});
    }
    ended_ = found.size() < scan_chunk;
    return found;
}

}  // namespace pawl::queue::sidekiq
