#pragma once

#include "src/queue/dead_letters.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

// What a database does by WHERE and GROUP BY, for dead letters that are not in one.
namespace pawl::queue::kafka {

bool matches(const DeadLetterFilter& filter, const DeadLetter& letter);

// Sorted by size, the largest first, then by queue, kind and kind of error.
class DeadLetterGroups {
public:
    void add(const DeadLetter& letter);
    std::vector<DeadLetterGroup> sorted() const;

private:
    std::map<std::tuple<std::string, std::string, std::string>, DeadLetterGroup> groups_;
};

}  // namespace pawl::queue::kafka
