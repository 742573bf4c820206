#pragma once

#include <pawl/detail/session.hpp>

#include "src/queue/dead_letters.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::queue::sidekiq {

// Where a job lies among the dead: the microsecond of its death, and which of that microsecond's.
//
//   "1795250001400000-0123456789abcdef01234567"   16 digits, and 24 of the SHA-256 of its bytes
//
// So text order is the order of death, and a page goes on where the last one ended.
struct DeadPlace {
    std::int64_t micros{};
    std::string digest;

    std::string id() const;
    TimePoint died_at() const;
    // Scores of Sidekiq's set between which this microsecond lies.
    std::string least_score() const;
    std::string most_score() const;
};

DeadPlace place_of(std::string_view score, std::string_view member);
std::optional<DeadPlace> place_of_id(std::string_view id);

bool is_meant(const DeadLetter& letter, const DeadFilter& filter);

}  // namespace pawl::queue::sidekiq
