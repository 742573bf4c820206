#pragma once

#include <pawl/service.hpp>

#include <prometheus/metric_family.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::operate {

using namespace std::chrono_literals;

// The metrics that are counts of rows: keys, jobs, providers, servers. They are read by a thread of
// their own, and a scrape gets what was read last, so that many scrapes cost the database nothing.
// The reads take at most a twentieth of the time, but there is one each minute. Thread-safe.
class DatabaseMetrics {
public:
    static constexpr std::chrono::milliseconds every{5s};
    static constexpr int share = 20;
    static constexpr std::chrono::milliseconds longest{60s};

    explicit DatabaseMetrics(Service& service) : service_{service} {}

    // Reads all. Throws StoreError.
    void run_once();
    void run(const std::stop_token& stop);
    // Empty before the first read.
    std::vector<prometheus::MetricFamily> last() const;
    // Migrations that the database had at the first read, and does not have now.
    std::vector<std::string> migrations_missing() const;

private:
    Service& service_;
    mutable std::mutex mutex_;
    std::vector<prometheus::MetricFamily> last_;
    std::vector<std::string> migrations_;
    std::vector<std::string> missing_;
};

}  // namespace pawl::operate
