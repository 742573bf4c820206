#include "src/queue/redis/dead_letter_id.hpp"

#include "src/core/ascii.hpp"
#include "src/json/hash.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace pawl::queue::sidekiq {

namespace {

constexpr std::size_t time_digits = 16;
constexpr std::size_t digest_digits = 24;
// Scores come from anyone; those outside these limits are clamped.
constexpr std::int64_t micros_max = 9'999'999'999'999'999;

std::string score_of_micros(double micros) {
    std::array<char, 40> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.7f", micros / 1e6);
    return {text.data(), static_cast<std::size_t>(size)};
}

bool is_hex(char c) {
    return core::is_digit(c) || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string DeadLetterId::id() const {
    const auto digits = std::to_string(micros);
    return std::string(time_digits - std::min(time_digits, digits.size()), '0') + digits + "-" +
           digest;
}

TimePoint DeadLetterId::died_at() const {
    return TimePoint{std::chrono::milliseconds{micros / 1'000}};
}

std::string DeadLetterId::least_score() const {
    return micros == 0 ? "-inf" : score_of_micros(static_cast<double>(micros) - 0.75);
}

std::string DeadLetterId::most_score() const {
    return micros == micros_max ? "+inf" : score_of_micros(static_cast<double>(micros) + 0.75);
}

DeadLetterId large_dead_letter_id(std::string_view score, std::string_view sha1) {
    double seconds = 0;
    std::from_chars(score.data(), score.data() + score.size(), seconds);
    const double micros = std::round(seconds * 1e6);
    DeadLetterId place;
    if (micros >= static_cast<double>(micros_max))
        place.micros = micros_max;
    else if (micros > 0)
        place.micros = static_cast<std::int64_t>(micros);
    place.digest = sha1.substr(0, digest_digits);
    return place;
}

DeadLetterId dead_letter_id_of(std::string_view score, std::string_view member) {
    auto place = large_dead_letter_id(score, {});
    place.digest = json::hex(json::sha256(member)).substr(0, digest_digits);
    return place;
}

std::optional<DeadLetterId> parse_dead_letter_id(std::string_view id) {
    if (id.size() != time_digits + 1 + digest_digits || id[time_digits] != '-') return std::nullopt;
    const auto time = id.substr(0, time_digits);
    const auto digest = id.substr(time_digits + 1);
    if (!core::are_digits(time) || !std::all_of(digest.begin(), digest.end(), is_hex))
        return std::nullopt;
    DeadLetterId place;
    std::from_chars(time.data(), time.data() + time.size(), place.micros);
    place.digest = digest;
    return place;
}

bool is_meant(const DeadLetter& letter, const DeadLetterFilter& filter) {
    return (!filter.queue || letter.queue == *filter.queue) &&
           (!filter.kind || letter.kind == *filter.kind) &&
           (!filter.error_kind || letter.error_kind == *filter.error_kind) &&
           (!filter.error || letter.error.find(*filter.error) != std::string::npos) &&
           (!filter.died_before || letter.died_at < *filter.died_before) &&
           (!filter.died_since || letter.died_at >= *filter.died_since) &&
           (!filter.failures_min || letter.failures >= *filter.failures_min);
}

}  // namespace pawl::queue::sidekiq
