#pragma once

#include <pawl/detail/session.hpp>

#include "src/queue/dead_letters.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::queue::sidekiq {

// The place of a dead job: the microsecond of its death, and a digest that tells jobs of one
// microsecond apart.
//
//   "1795250001400000-0123456789abcdef01234567"   16 digits, and 24 of the SHA-256 of its bytes
//                                               (of a large one, of its SHA-1)
//
// So the order of texts is the order of deaths, and a page continues where the last one ended.
struct DeadLetterId {
    std::int64_t micros{};
    std::string digest;

    std::string id() const;
    TimePoint died_at() const;
    // The scores in Sidekiq's set between which this microsecond lies.
    std::string least_score() const;
    std::string most_score() const;
};

DeadLetterId dead_letter_id_of(std::string_view score, std::string_view member);
// Of a member that is too large to be read.
DeadLetterId large_dead_letter_id(std::string_view score, std::string_view sha1);
std::optional<DeadLetterId> parse_dead_letter_id(std::string_view id);

bool is_meant(const DeadLetter& letter, const DeadLetterFilter& filter);

}  // namespace pawl::queue::sidekiq
