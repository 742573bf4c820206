#include "src/trace/exporter.hpp"

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/base/thread_name.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pawl::trace {

using std::chrono::milliseconds;

namespace {

// Of an answer that asks for a repeat (OTLP specification, "Retryable Response Codes").
bool may_repeat(int status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Exporter::Exporter(ExporterOptions options, base::Clock& clock)
    : options_{std::move(options)}, clock_{clock} {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void Exporter::add(Span span) {
    bool full = false;
    {
        const std::lock_guard lock{mutex_};
        if (refusing_) {
            ++dropped_;
            return;
        }
        if (waiting_.size() >= options_.waiting_max) {
            ++overflowed_;
            return;
        }
        waiting_.push_back(std::move(span));
        full = waiting_.size() == batch_max;
    }
    if (full) changed_.notify_one();
}

void Exporter::stop() {
    {
        const std::lock_guard lock{mutex_};
        refusing_ = true;
    }
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void Exporter::run(const std::stop_token& stop) {
    base::name_this_thread("pawl-traces");
    for (bool last = false; !last;) {
        const bool stopping = stop.stop_requested();
        const auto batch = take(stop);
        if (!batch.empty()) send(batch, stop);
        last = stopping && batch.empty();
    }
}

// After the stop at once, and then perhaps empty.
Exporter::Batch Exporter::take(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop, options_.every, [this] { return waiting_.size() >= batch_max; });
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), batch_max));
    Batch batch{std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end)};
    waiting_.erase(waiting_.begin(), end);
    const auto overflowed = std::exchange(overflowed_, 0);
    lock.unlock();
    if (overflowed > 0) drop(overflowed, "too many spans wait");
    return batch;
}

void Exporter::send(const Batch& batch, const std::stop_token& stop) {
    auto wait = options_.retry_first;
    for (int tries = 1;; ++tries, wait *= 2) {
        const bool stopping = stop.stop_requested();
        const auto time = limit(stop);
        if (time.count() == 0) return drop(batch.size(), "the service has stopped");
        const auto refused = post(batch, time, stopping ? std::stop_token{} : stop);
        if (!refused) return;
        if (refused->hopeless || tries >= tries_max || stopping)
            return drop(batch.size(), refused->why);
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, stop, wait, [] { return false; });
    }
}

// What one request may take; zero: the end is over.
milliseconds Exporter::limit(const std::stop_token& stop) {
    if (!stop.stop_requested()) return options_.timeout;
    if (!until_) until_ = clock_.steady() + options_.stop_limit;
    const auto left = std::chrono::floor<milliseconds>(*until_ - clock_.steady());
    return std::clamp(left, milliseconds{0}, options_.timeout);
}

std::optional<Exporter::Refused> Exporter::post(
    const Batch& batch, milliseconds limit, const std::stop_token& stop
) {
    auto headers = options_.headers;
    headers.push_back({"Content-Type", "application/json"});
    const auto sent = transfers_.perform(
        {.method = "POST",
         .url = options_.url,
         .headers = std::move(headers),
         .body = otlp_request(batch, options_.resource),
         .connect_timeout = std::min(limit, options_.timeout),
         .timeout = limit,
         .answer_max = std::size_t{64} * 1024},
        stop
    );
    if (const auto* unsent = std::get_if<http::NotSent>(&sent))
        return Refused{unsent->why, unsent->hopeless};
    if (const auto* lost = std::get_if<http::Lost>(&sent)) return Refused{lost->why};
    const auto& answer = std::get<http::IncomingResponse>(sent);
    if (answer.status / 100 != 2)
        return Refused{
            "the collector answered " + std::to_string(answer.status), !may_repeat(answer.status)};
    const auto count = static_cast<std::int64_t>(batch.size());
    const auto rejected = std::min(rejected_spans(answer.body), count);
    sent_ += count - rejected;
    if (rejected > 0) drop(static_cast<std::size_t>(rejected), "the collector rejected them");
    return std::nullopt;
}

// Without the URL, which may hold a secret.
void Exporter::drop(std::size_t count, const std::string& why) {
    dropped_ += static_cast<std::int64_t>(count);
    log::limited_warning(
        "spans_dropped", why, {{"spans", count}, {"detail", base::sanitized_error(why)}}
    );
}

}  // namespace pawl::trace
