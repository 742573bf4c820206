#include "src/http/access_log.hpp"

#include "src/base/clock.hpp"
#include "src/base/json_line.hpp"
#include "src/base/log.hpp"
#include "src/base/log_file.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace pawl::http {

namespace {

// A method that is not served may be any text of the client's.
std::string_view known_method(std::string_view method) {
    constexpr std::array<std::string_view, 8> known{
        "", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"};
    return std::find(known.begin(), known.end(), method) != known.end() ? method : "_OTHER";
}

}  // namespace

struct AccessLog::Impl {
    explicit Impl(const std::string& path) : file{"access log", path} {}
    log::LogFile file;
    std::mutex mutex;
    std::condition_variable_any changed;
    bool due{false};
    // Writes lines out once a second, or when many wait: a reader sees them soon, a busy server
    // makes no system call for each, and no listener's thread waits for the disk.
    std::jthread flusher;
};

AccessLog::AccessLog(const std::string& file) {
    if (file.empty()) return;
    impl_ = std::make_unique<Impl>(file);
    log::warn_if_others_can_read("access log", file);
    impl_->flusher = std::jthread{[&to = *impl_](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            {
                std::unique_lock lock{to.mutex};
                to.changed.wait_for(lock, stop, std::chrono::seconds{1}, [&to] { return to.due; });
                to.due = false;
            }
            to.file.flush();
            if (const auto lost = to.file.take_lost(); lost > 0)
                log::error("access_log_lost", {{"file", to.file.path()}, {"bytes", lost}});
        }
    }};
}

AccessLog::~AccessLog() = default;

void AccessLog::flush() {
    if (impl_) impl_->file.flush();
}

void AccessLog::reopen() {
    if (!impl_) return;
    if (auto why = impl_->file.reopen())
        return log::error("access_log_not_reopened", {{"detail", *why}});
    log::warn_if_others_can_read("access log", impl_->file.path());
}

void AccessLog::write(const Entry& entry) {
    if (observer_ != nullptr)
        observer_->on_http(known_method(entry.method), entry.route, entry.status, entry.took);
    if (!impl_) return;
    log::JsonLine line{base::system_clock().now()};
    line.add("client", entry.client)
        .add("method", known_method(entry.method))
        .add("route", entry.route)
        .add_number("status", entry.status)
        .add_number("bytes", static_cast<std::int64_t>(entry.bytes))
        .add_number("took_us", entry.took.count());
    if (entry.replayed) line.add_true("replayed");
    for (const auto& [name, value] :
         {std::pair{"over_quota", entry.over_quota},
          {"request_id", entry.request_id},
          {"trace_id", entry.trace_id},
          {"tenant", entry.tenant},
          {"account", entry.account},
          {"operation", entry.operation},
          {"key_hash", entry.key_hash},
          {"problem", entry.problem}})
        if (!value.empty()) line.add(name, value);
    if (!impl_->file.append(line.text())) return;
    {
        const std::lock_guard lock{impl_->mutex};
        impl_->due = true;
    }
    impl_->changed.notify_one();
}

}  // namespace pawl::http
