#pragma once

#include <string>
#include <vector>

namespace pawl::bench {

// While it lives, it records each SQLite statement on connections that are opened meanwhile.
class Tracing {
public:
    Tracing();
    ~Tracing();
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;
};

// The texts since the last call, in order. Without transaction control: a server's batches have
// savepoints.
std::vector<std::string> take_trace();

}  // namespace pawl::bench
