#pragma once

#include "src/engine/observer.hpp"
#include "src/http/transfer.hpp"
#include "src/trace/otlp.hpp"
#include "src/trace/span.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace pawl::trace {

struct ExporterOptions {
    std::string url;  // Whole, with its path.
    std::vector<Header> headers{};
    Resource resource{};
    std::size_t waiting_max{};
    std::chrono::milliseconds timeout{};
    std::chrono::milliseconds stop_limit{};
    std::chrono::milliseconds every{1'000};        // A batch that is not full waits so long.
    std::chrono::milliseconds retry_first{1'000};  // Doubled with each try.
};

// Sends spans in batches, on a thread of its own. A batch is tried several times, as the OTLP
// specification has it; meanwhile up to waiting_max spans wait, and the others are dropped.
class Exporter {
public:
    explicit Exporter(ExporterOptions options);
    ~Exporter() { stop(); }

    void add(Span span);  // Thread-safe; never waits.
    void stop();          // Sends what waits, once, for at most stop_limit.
    engine::SpanCounts counts() const { return {sent_, dropped_}; }

private:
    static constexpr std::size_t batch_max = 512;
    static constexpr int tries_max = 4;
    using Batch = std::vector<Span>;
    struct Refused {
        std::string why;
        bool hopeless{};  // A repeat would be refused, too.
    };

    void run(const std::stop_token& stop);
    Batch take(const std::stop_token& stop);
    void send(const Batch& batch, const std::stop_token& stop);
    std::optional<Refused> post(const Batch& batch);
    void drop(std::size_t count, const std::string& why);

    const ExporterOptions options_;
    http::Transfers transfers_{1};
    std::mutex mutex_;
    std::condition_variable_any changed_;
    Batch waiting_;
    std::size_t overflowed_{0};  // Not reported yet.
    bool refusing_{false};
    bool ended_{false};
    std::stop_source give_up_;  // Ends the request in flight, and those that follow.
    std::atomic<std::int64_t> sent_{0};
    std::atomic<std::int64_t> dropped_{0};
    std::jthread thread_;
};

}  // namespace pawl::trace
