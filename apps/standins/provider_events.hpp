#pragma once

#include <pawl/client.hpp>
#include <pawl/detail/session.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rides {

struct EventOptions {
    std::string url{};                   // Empty: no events are sent.
    std::vector<std::string> secrets{};  // Each signs every delivery.
};

// How the events are delivered, besides being repeated until they get 2xx.
struct EventFaults {
    bool early{};     // The API's own answer waits until the event was delivered, or refused.
    bool twice{};     // Two deliveries at once.
    bool shuffled{};  // Every second event waits for a second.

    // "early twice"; unknown words are ignored.
    static EventFaults of(std::string_view words);
};

// What has happened at the stand-in.
struct BookedEvent {
    std::string_view type;  // "charge.succeeded"
    std::string object;     // The charge, as JSON.
    std::string request;    // Request-Id and Idempotency-Key of the request that caused it.
    std::string key;
    pawl::TimePoint at{};
};

// Sends the stand-in's events to one URL, at least once each, signed as Stripe does. They are kept
// in memory: a restart loses those that were not delivered.
class EventSender {
public:
    explicit EventSender(EventOptions options);
    ~EventSender() { stop(); }
    void stop();  // Drops what was not delivered.

    // `delivered` runs after the first delivery has got an answer, or none.
    void send(const BookedEvent& event, const EventFaults& faults, std::function<void()> delivered);

private:
    struct Delivery {
        std::string body;
        int tries{};
        std::function<void()> delivered{};
    };
    using Steady = std::chrono::steady_clock::time_point;
    void put(Steady due, Delivery delivery);
    void loop(const std::stop_token& stop);
    bool deliver(const Delivery& delivery, const std::stop_token& stop);

    EventOptions options_;
    pawl::Client client_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::multimap<Steady, Delivery> waiting_;
    std::size_t events_{0};
    std::vector<std::jthread> threads_;
};

}  // namespace rides
