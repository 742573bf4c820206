#pragma once

#include "src/queue/dead_letters.hpp"
#include "src/queue/kafka/record.hpp"
#include "src/store/store.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

// Operators' decisions about records of dead-letter topics: the store's table pawl_kafka_marks.
namespace pawl::queue::kafka {

enum class Mark { merging, merged, purged };

struct DeadLetterAt {
    Partition partition;
    std::int64_t offset{};
    std::string life;  // life_of() the record.
};

// Writes the mark in the caller's transaction. False if the letter is already merged or purged.
bool mark(store::Session& session, const DeadLetterAt& letter, Mark mark, const AuditEntry& act);
struct Settled {
    bool contains(std::int64_t offset, const std::string& life) const {
        return offsets.contains(offset) || lives.contains(life);
    }
    std::set<std::int64_t> offsets;
    std::unordered_set<std::string> lives;
};
// The settled letters of a partition, from offset `low` on.
Settled settled(store::Store& store, const Partition& partition, std::int64_t low);
// Deletes the marks of records that the topic no longer holds.
void forget_marks(store::Session& session, const Partition& partition, std::int64_t low);
// Writes to pawl_audit_log, as for the embedded queue's dead letters.
void audit(
    store::Session& session,
    const AuditEntry& act,
    std::string_view action,
    const std::vector<std::string>& letters
);

}  // namespace pawl::queue::kafka
