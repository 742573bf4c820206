#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <optional>
#include <span>

// What a restore of the database from a backup has lost. docs/adr/0022.
namespace pawl::core {

// What one restore has lost: the requests and calls between `since` and the restore.
struct LostTime {
    TimePoint since;             // The restored database has all that happened before.
    TimePoint keys_until;        // Until then clients may repeat requests that are lost.
    std::int64_t last_key_id{};  // The highest of the restored database: these may have gone on.
};

// Since when a call of this key may have been made without a record of it; nullopt: all of its
// calls are on record. A key of the restored database may have gone on in the lost time, whenever
// it is resumed; a new key may be the repeat of a lost one.
std::optional<TimePoint> call_lost_since(
    std::span<const LostTime> lost, std::int64_t key_id, TimePoint now
) noexcept;

// Numbers of the database that only grow, as a row of it and as a file outside say them.
struct Mark {
    std::int64_t number{};
    TimePoint at{};
    std::int64_t key_id{};
    std::int64_t calls{};
};

// Whether a database with this mark lacks what the other has seen of it.
bool is_behind(const Mark& database, const Mark& outside) noexcept;

}  // namespace pawl::core
