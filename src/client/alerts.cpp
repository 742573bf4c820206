#include <pawl/alerts.hpp>

#include "src/base/clock.hpp"
#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/base/options.hpp"
#include "src/base/thread_name.hpp"
#include "src/client/alert_command.hpp"
#include "src/client/alert_queue.hpp"
#include "src/http/transfer.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <variant>

namespace pawl {

namespace {

using namespace std::chrono_literals;
using client::AlertQueue;

constexpr auto command_limit = 30s;
constexpr auto webhook_limit = 5s;
constexpr auto last_limit = 2s;  // At the end of the program.
constexpr int tries_max = 3;

std::optional<std::string> problem_of(const http::Sent& sent) {
    if (const auto* answer = std::get_if<http::IncomingResponse>(&sent))
        return answer->status / 100 == 2
                   ? std::nullopt
                   : std::optional{"it answered " + std::to_string(answer->status)};
    if (const auto* not_sent = std::get_if<http::NotSent>(&sent)) return not_sent->why;
    return std::get<http::Lost>(sent).why;
}

}  // namespace

std::optional<std::string> AlertOptions::problem() const {
    if (webhook.empty() || webhook.starts_with("http://") || webhook.starts_with("https://"))
        return std::nullopt;
    return "webhook is " + webhook + ": http:// or https://, and a host";
}

namespace {

// Shared by the sender and the log's sink: a line may be on its way when the sender ends.
struct Waiting {
    std::mutex mutex;
    std::condition_variable_any changed;
    AlertQueue queue;

    void add(std::string_view event, const std::string& line) {
        {
            const std::lock_guard lock{mutex};
            queue.add(event, line);
        }
        changed.notify_one();
    }
};

}  // namespace

struct Alerts::Impl {
    explicit Impl(AlertOptions given) : options{std::move(given)} {
        sender = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    }

    void run(const std::stop_token& stop) {
        base::name_this_thread("pawl-alerts");
        while (!stop.stop_requested()) {
            if (const auto alert = wait(stop)) deliver(*alert, stop);
        }
        const auto until = base::system_clock().steady() + last_limit;
        while (base::system_clock().steady() < until) {
            const auto alert = next(until + AlertQueue::apart);
            if (!alert) return;
            deliver(*alert, stop);
        }
    }

    std::optional<AlertQueue::Alert> next(AlertQueue::Time now) {
        const std::lock_guard lock{waiting->mutex};
        return waiting->queue.next(now);
    }

    // nullopt: the stop, or none may be sent yet.
    std::optional<AlertQueue::Alert> wait(const std::stop_token& stop) {
        auto& [mutex, changed, queue] = *waiting;
        std::unique_lock lock{mutex};
        const auto ready = [&queue = waiting->queue] {
            const auto due = queue.due();
            return due && *due <= base::system_clock().steady();
        };
        constexpr auto longest = 1h;
        const auto latest = base::system_clock().steady() + longest;
        changed.wait_until(lock, stop, queue.due().value_or(latest), ready);
        return ready() ? queue.next(base::system_clock().steady()) : std::nullopt;
    }

    void deliver(const AlertQueue::Alert& alert, const std::stop_token& stop) {
        const auto text = alert.text();
        const bool well = post(text, stop) && run_command(text, stop);
        if (well) return;
        const std::lock_guard lock{waiting->mutex};
        waiting->queue.failed(alert);
    }

    bool post(const std::string& text, const std::stop_token& stop) {
        if (options.webhook.empty()) return true;
        std::optional<std::string> why;
        for (int tries = 1; tries <= tries_max; ++tries) {
            why = problem_of(transfers.perform(
                {.method = "POST",
                 .url = options.webhook,
                 .headers = {{"Content-Type", "application/json"}},
                 .body = text,
                 .timeout = stop.stop_requested() ? last_limit : webhook_limit}
            ));
            if (!why) return true;
            if (stop.stop_requested()) break;
            std::unique_lock lock{waiting->mutex};
            waiting->changed.wait_for(lock, stop, std::chrono::seconds{tries}, [] {
                return false;
            });
        }
        return failed("webhook", *why);
    }

    bool run_command(const std::string& text, const std::stop_token& stop) {
        if (options.command.empty()) return true;
        const auto limit = stop.stop_requested() ? last_limit : command_limit;
        const auto why = client::run_command(options.command, text, limit);
        return !why || failed("command", *why);
    }

    // Without the URL, which may hold a secret.
    static bool failed(std::string_view by, const std::string& why) {
        log::limited_warning(
            "alert_not_sent", std::string{by}, {{"by", by}, {"detail", base::sanitized_error(why)}}
        );
        return false;
    }

    const AlertOptions options;
    http::Transfers transfers{1};
    std::shared_ptr<Waiting> waiting{std::make_shared<Waiting>()};
    std::jthread sender;
};

Alerts::Alerts(const AlertOptions& options) {
    const auto checked = base::checked(options, "pawl::AlertOptions");
    if (checked.webhook.empty() && checked.command.empty()) return;
    impl_ = std::make_unique<Impl>(checked);
    log::set_sink(std::make_shared<const log::Sink>(log::Sink{
        client::is_alert,
        [waiting = impl_->waiting](std::string_view event, const std::string& line) {
            waiting->add(event, line);
        }}));
}

Alerts::~Alerts() {
    if (impl_) log::set_sink(nullptr);
}

}  // namespace pawl
