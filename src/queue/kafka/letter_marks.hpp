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

// What people decided about records of dead-letter topics: the table kafka_marks of our store.
namespace pawl::queue::kafka {

enum class Mark { merging, merged, purged };

struct LetterAt {
    Partition partition;
    std::int64_t offset{};
    std::string life;  // life_of() it.
};

// In the caller's transaction. False if it is settled already: merged or purged.
bool mark(store::Session& session, const LetterAt& letter, Mark mark, const DeadAct& act);
struct Settled {
    bool contains(std::int64_t offset, const std::string& life) const {
        return offsets.contains(offset) || lives.contains(life);
    }
    std::set<std::int64_t> offsets;
    std::unordered_set<std::string> lives;
};
// Of a partition, from `low` on.
Settled settled(store::Store& store, const Partition& partition, std::int64_t low);
// Of records that the topic holds no more.
void forget_marks(store::Session& session, const Partition& partition, std::int64_t low);
// In audit_log, as of the embedded queue's dead letters.
void audit(
    store::Session& session,
    const DeadAct& act,
    std::string_view action,
    const std::vector<std::string>& letters
);

}  // namespace pawl::queue::kafka
