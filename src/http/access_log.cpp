#include "src/http/access_log.hpp"

#include "src/core/time_text.hpp"
#include "src/engine/clock.hpp"
#include "src/json/text.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <thread>

namespace pawl::http {

namespace {

// One that nobody serves is the client's own word, and may be anything.
std::string_view known_method(std::string_view method) {
    constexpr std::array<std::string_view, 8> known{
        "", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"};
    return std::find(known.begin(), known.end(), method) != known.end() ? method : "_OTHER";
}

}  // namespace

struct AccessLog::Impl {
    std::shared_ptr<spdlog::logger> logger;
    // Lines are written out once a second: whoever looks on sees them come, and a busy server makes
    // no call for each.
    std::jthread flusher;
};

AccessLog::AccessLog(const std::string& file) {
    if (file.empty()) return;
    impl_ = std::make_unique<Impl>();
    try {
        spdlog::sink_ptr sink;
        if (file == "-")
            sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        else
            sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
        impl_->logger = std::make_shared<spdlog::logger>("access", std::move(sink));
    } catch (const spdlog::spdlog_ex& failed) {
        throw std::runtime_error{"the access log " + file + " can't be written: " + failed.what()};
    }
    impl_->logger->set_pattern("%v");
    impl_->flusher = std::jthread{[logger = impl_->logger](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock{mutex};
        while (!stopped.wait_for(lock, stop, std::chrono::seconds{1}, [&] {
            return stop.stop_requested();
        }))
            logger->flush();
    }};
}

AccessLog::~AccessLog() = default;

void AccessLog::flush() {
    if (impl_) impl_->logger->flush();
}

void AccessLog::write(const Entry& entry) {
    if (!impl_) return;
    std::string line =
        R"({"ts":")" + core::time_text(engine::system_clock().now()) + R"(","client":)";
    json::append_string(line, entry.client);
    line += R"(,"method":)";
    json::append_string(line, known_method(entry.method));
    line += R"(,"route":)";
    json::append_string(line, entry.route);
    line += R"(,"status":)" + std::to_string(entry.status) + R"(,"bytes":)" +
            std::to_string(entry.bytes) + R"(,"took_us":)" + std::to_string(entry.took.count());
    if (entry.replayed) line += R"(,"replayed":true)";
    if (!entry.over_quota.empty()) {
        line += R"(,"over_quota":)";
        json::append_string(line, entry.over_quota);
    }
    line += '}';
    impl_->logger->log(spdlog::level::info, "{}", line);
}

}  // namespace pawl::http
