#pragma once

#include "src/queue/dead_letters.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

// What a database does with WHERE and GROUP BY, for letters that stand in none.
namespace pawl::queue::kafka {

bool matches(const DeadFilter& filter, const DeadLetter& letter);

// The largest group first; among equals by queue, kind and kind of error.
class LetterGroups {
public:
    void add(const DeadLetter& letter);
    std::vector<DeadGroup> sorted() const;

private:
    std::map<std::tuple<std::string, std::string, std::string>, DeadGroup> groups_;
};

}  // namespace pawl::queue::kafka
