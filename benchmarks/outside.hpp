#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace pawl::redis {
class Client;
}

namespace pawl::bench {

// Counts the jobs in Redis; zero for the embedded queue, whose jobs the database counts. Throws
// StoreError, and std::invalid_argument for another queue.
class Outside {
public:
    explicit Outside(const std::string& queue);
    ~Outside();
    std::int64_t left();  // In its list, at work, or waiting for their time.
    std::int64_t dead();

private:
    std::unique_ptr<redis::Client> redis_;
};

}  // namespace pawl::bench
