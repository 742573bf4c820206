#include "src/queue/redis/score_scan.hpp"

#include "src/queue/redis/scripts.hpp"

#include <charconv>
#include <utility>

namespace pawl::queue::sidekiq {

ScoredMember scored_member(std::string member, std::string score) {
    const auto size_at = score.find(' ');
    if (size_at == score.npos) return {std::move(score), std::move(member), {}};
    const auto sha1_at = score.rfind(' ');
    ScoredMember::Large large{.sha1 = score.substr(sha1_at + 1)};
    std::from_chars(score.data() + size_at + 1, score.data() + sha1_at, large.size);
    score.resize(size_at);
    return {std::move(score), std::move(member), std::move(large)};
}

ScoreScan::ScoreScan(
    redis::Client& client,
    std::string key,
    std::string from,
    std::string to,
    std::optional<std::size_t> member_max
)
    : client_{client},
      key_{std::move(key)},
      from_{std::move(from)},
      to_{std::move(to)},
      member_max_{member_max} {}

std::vector<ScoredMember> ScoreScan::next() {
    if (ended_) return {};
    auto reply = client_.run(
        scripts::score_page,
        {key_},
        {from_,
         to_,
         std::to_string(skip_),
         std::to_string(scan_chunk),
         std::to_string(scan_bytes),
         member_max_ ? std::to_string(*member_max_) : ""}
    );
    std::vector<ScoredMember> found;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
        auto one =
            scored_member(std::move(reply.items[i].text), std::move(reply.items[i + 1].text));
        // Skips those of this score that were already read.
        skip_ = one.score == from_ ? skip_ + 1 : 1;
        from_ = one.score;
        bytes += one.member.size();
        found.push_back(std::move(one));
    }
    ended_ = found.size() < scan_chunk && bytes < scan_bytes;
    return found;
}

}  // namespace pawl::queue::sidekiq
