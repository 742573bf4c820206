#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::operate {

struct Disk {
    std::uint64_t free{};  // Bytes that this process may still use.
    std::uint64_t size{};
};

// What is known of a server when it is asked whether it is ready.
struct ReadinessFacts {
    bool started{};
    bool stopping{};
    std::optional<std::string> store_down{};  // Why.
    std::optional<Disk> disk{};               // Of a SQLite database.
    std::uint64_t disk_free_min{};
    std::vector<std::string> migrations_missing{};
    // Why the workers can't claim jobs, in a way that does not end by itself. Not an outage of the
    // queue: while it lasts, requests are served and their jobs staged.
    std::optional<std::string> jobs_unreadable{};
};

struct Check {
    std::string name;
    bool ok{};
    std::string detail;  // Empty if it is ok.
};
struct Readiness {
    bool ready{};
    std::vector<Check> checks;
};

// The server gets requests only if each check is ok.
Readiness decide_readiness(const ReadinessFacts& facts);

}  // namespace pawl::operate
