#pragma once

#include <string>
#include <vector>

namespace pawl::bench {

// While it lives, SQLite says of each statement that runs on a connection opened meanwhile.
class Tracing {
public:
    Tracing();
    ~Tracing();
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;
};

// The texts since the last time, in their order. Not those that control transactions: a server's
// batches have savepoints.
std::vector<std::string> take_trace();

}  // namespace pawl::bench
