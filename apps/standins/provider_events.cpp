#include "apps/standins/provider_events.hpp"

#include <pawl/webhook.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace rides {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr int senders = 8;
constexpr auto wait_first = 200ms;
constexpr auto wait_max = 2'000ms;

// What Stripe changes from one delivery to the next.
std::string body_of(json::object event, int pending) {
    event["pending_webhooks"] = pending;
    return json::serialize(event);
}

json::object event_of(const BookedEvent& event) {
    json::value key;  // null
    if (!event.key.empty()) key = event.key;
    return {
        {"id", "evt_" + pawl::base::random_hex(pawl::base::system_random(), 20)},
        {"object", "event"},
        {"api_version", "2026-08-26.dahlia"},
        {"created", std::chrono::floor<std::chrono::seconds>(event.at.time_since_epoch()).count()},
        {"data", json::object{{"object", json::parse(event.object)}}},
        {"livemode", false},
        {"request", json::object{{"id", event.request}, {"idempotency_key", key}}},
        {"type", event.type}};
}

}  // namespace

EventFaults EventFaults::of(std::string_view words) {
    const auto has = [&](std::string_view word) { return words.find(word) != words.npos; };
    return {.early = has("early"), .twice = has("twice"), .shuffled = has("shuffled")};
}

EventSender::EventSender(EventOptions options)
    : options_{std::move(options)},
      client_{{.url = options_.url, .timeout = 10s, .tries_max = 1, .breaker_failures = 0}} {
    for (int i = 0; i < senders; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { loop(stop); });
}

void EventSender::stop() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
}

void EventSender::send(
    const BookedEvent& event, const EventFaults& faults, std::function<void()> delivered
) {
    const auto made = event_of(event);
    const auto now = pawl::base::system_clock().steady();
    std::size_t number = 0;
    {
        const std::lock_guard lock{mutex_};
        number = events_++;
    }
    const auto due = faults.shuffled && number % 2 == 0 ? now + 1s : now;
    if (faults.twice) put(due, {body_of(made, 2), 0, {}});
    put(due, {body_of(made, 1), 0, std::move(delivered)});
}

void EventSender::put(Steady due, Delivery delivery) {
    {
        const std::lock_guard lock{mutex_};
        waiting_.emplace(due, std::move(delivery));
    }
    changed_.notify_one();
}

void EventSender::loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Delivery next;
        {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
            if (stop.stop_requested()) return;
            const auto due = waiting_.begin()->first;
            if (due > pawl::base::system_clock().steady()) {
                changed_.wait_until(lock, stop, due, [&] {
                    return waiting_.empty() || waiting_.begin()->first < due;
                });
                continue;
            }
            next = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
        }
        const bool accepted = deliver(next, stop);
        if (next.delivered) std::exchange(next.delivered, {})();
        if (accepted) continue;
        const auto wait = std::min<std::chrono::milliseconds>(
            wait_first * (1 << std::min(next.tries++, 10)), wait_max
        );
        put(pawl::base::system_clock().steady() + wait, std::move(next));
    }
}

bool EventSender::deliver(const Delivery& delivery, const std::stop_token& stop) {
    const auto now = pawl::base::system_clock().now();
    const auto end = client_.send_once(
        {.method = "POST",
         .headers =
             {{"Stripe-Signature", pawl::stripe_signature(options_.secrets, now, delivery.body)}},
         .body = delivery.body},
        stop
    );
    const auto* answered = std::get_if<pawl::Answered>(&end);
    return answered != nullptr && answered->status >= 200 && answered->status < 300;
}

}  // namespace rides
