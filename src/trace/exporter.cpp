#include "src/trace/exporter.hpp"

#include "src/base/error_text.hpp"
#include "src/base/log.hpp"
#include "src/base/thread_name.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pawl::trace {

namespace {

// Of an answer that asks for a repeat (OTLP specification, "Retryable Response Codes").
bool may_repeat(int status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Exporter::Exporter(ExporterOptions options) : options_{std::move(options)} {
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
    std::unique_lock lock{mutex_};
    // A request in flight is not cut off at once: the collector would get its spans twice.
    changed_.wait_for(lock, options_.stop_limit, [this] { return ended_; });
    lock.unlock();
    give_up_.request_stop();
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
    {
        const std::lock_guard lock{mutex_};
        ended_ = true;
    }
    changed_.notify_all();
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
        const auto refused = post(batch);
        if (!refused) return;
        if (refused->hopeless || tries >= tries_max || stop.stop_requested())
            return drop(batch.size(), refused->why);
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, stop, wait, [] { return false; });
    }
}

std::optional<Exporter::Refused> Exporter::post(const Batch& batch) {
    auto headers = options_.headers;
    headers.push_back({"Content-Type", "application/json"});
    const auto sent = transfers_.perform(
        {.method = "POST",
         .url = options_.url,
         .headers = std::move(headers),
         .body = otlp_request(batch, options_.resource),
         .timeout = options_.timeout,
         .answer_max = std::size_t{64} * 1024},
        give_up_.get_token()
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
