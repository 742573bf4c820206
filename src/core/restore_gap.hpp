#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <optional>
#include <span>

// What a restore of the database from a backup has lost. docs/adr/0022.
namespace pawl::core {

// The requests and calls between `since` and one restore are lost.
struct RestoreGap {
    TimePoint since;       // The restored database has all that happened before.
    TimePoint keys_until;  // Until then clients may repeat lost requests.
    // The highest in the restored database: keys up to it may have gone on.
    std::int64_t last_key_id{};
    TimePoint opened{};  // The restore: what is later was written to the restored database.
};

// From when on a call of this key may have been made without a record; nullopt: all of its calls
// are recorded. A key of the restored database may have gone on in the lost time; a new key may
// repeat a lost one.
std::optional<TimePoint> restore_gap_start(
    std::span<const RestoreGap> lost, std::int64_t key_id, TimePoint now
) noexcept;

// Whether the lost time may have had other calls of the key than this recorded one: one of the
// backup, whenever the backup is said to be from, or the first one of a key that may repeat a lost
// key. Not a call that a person has decided on (generation > 0) since the restore.
bool may_have_gone_on(
    std::span<const RestoreGap> lost, std::int64_t key_id, int generation, TimePoint called_at
) noexcept;

// Counters of the database that only grow, as stored in the database and in a file outside.
struct Mark {
    std::int64_t number{};
    TimePoint at{};
    std::int64_t key_id{};
    std::int64_t calls{};
};

// Whether the database lacks something that the outside mark has seen.
bool is_behind(const Mark& database, const Mark& outside) noexcept;

}  // namespace pawl::core
