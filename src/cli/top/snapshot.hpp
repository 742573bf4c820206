#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/service.hpp>

#include "src/cli/providers.hpp"
#include "src/cli/queues.hpp"
#include "src/cli/servers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::cli {

// The unsettled keys in numbers.
struct KeyCounts {
    struct Reason {
        std::string reason;
        std::int64_t count{};
        TimePoint since{};
    };

    std::int64_t open{};
    std::optional<TimePoint> oldest_open{};  // Of those that nobody holds.
    std::int64_t stuck{};
    std::int64_t held{};
    std::int64_t unrecorded{};               // Results of calls at which their keepers fail.
    std::optional<std::int64_t> stranded{};  // nullopt: this program does not know the operations.
    std::vector<Reason> attention{};

    std::int64_t in_doubt() const {
        std::int64_t sum = 0;
        for (const auto& reason : attention) sum += reason.count;
        return sum;
    }
};

// Reads by indices. `engine` has the operations; null: this program does not know them. Throws
// StoreError.
KeyCounts count_keys(detail::Session& session, const engine::Engine* engine);

// What `top` shows of one moment.
struct Snapshot : KeyCounts {
    struct OldKey {
        std::int64_t id{};
        TimePoint created_at{};
        std::string operation;
        std::string recovery_point;
        std::string status;
        std::optional<TimePoint> lease_until;
        bool held{};
        int completer_runs{};
        std::optional<std::string> error;
    };
    struct Retries {
        int failures{};
        std::int64_t count{};
        TimePoint next{};
    };

    TimePoint at{};  // By the database's clock, as all times here.
    std::vector<OldKey> oldest{};
    // Created since the snapshot before; nullopt: there is none, or they are too many to count.
    std::optional<std::int64_t> new_keys{};
    std::vector<Retries> retries{};
    QueueLines queues{};
    std::vector<Line<ProviderLine>> providers{};
    std::vector<Line<ServerLine>> servers{};
};

// Reads by indices, and no more rows than are unsettled. `before`: when the one before was read.
// Throws StoreError.
Snapshot read_snapshot(Service& service, bool knows_operations, std::optional<TimePoint> before);

}  // namespace pawl::cli
