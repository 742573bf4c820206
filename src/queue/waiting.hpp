#pragma once

#include <cstdint>
#include <string>

namespace pawl::queue {

// What a queue outside the database holds at a moment and nobody has done yet, for people.
struct Waiting {
    std::string queue;
    std::int64_t ready{};    // Due: a worker may take them.
    std::int64_t running{};  // In a worker's hands.
    std::int64_t later{};    // Put off, or waiting to be tried again.
};

}  // namespace pawl::queue
