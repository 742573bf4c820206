#include "src/trace/exporter.hpp"

#include "src/http/testing/raw_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace pawl::trace {
namespace {

using namespace std::chrono_literals;
using http::testing::RawServer;
using http::testing::RawSocket;

Span span(std::string name = "phase started") {
    return {.here = core::TraceContext::root({1, 2}, 3, 1), .name = std::move(name)};
}

ExporterOptions options(std::string url) {
    return {
        .url = std::move(url),
        .headers = {{"Authorization", "Bearer s3cret"}},
        .resource = {.service = "rides", .version = "0.1.0"},
        .waiting_max = 1'000,
        .timeout = 5s,
        .stop_limit = 2s,
        .every = 20ms,
        .retry_first = 1ms};
}

// Answers each request with the next status; the last one stays.
class Collector {
public:
    explicit Collector(std::vector<int> statuses, std::string body = "{}")
        : statuses_{std::move(statuses)}, body_{std::move(body)} {}
    std::string url() const { return server_.url() + "/v1/traces"; }
    std::vector<std::string> seen() const { return server_.seen(); }

private:
    void answer(RawServer& self, RawSocket& socket) {
        for (auto text = socket.read_message(); !text.empty(); text = socket.read_message()) {
            const auto n = std::min<std::size_t>(next_++, statuses_.size() - 1);
            self.saw(std::move(text));
            socket.send(
                "HTTP/1.1 " + std::to_string(statuses_[n]) +
                " X\r\nContent-Length: " + std::to_string(body_.size()) + "\r\n\r\n" + body_
            );
        }
    }

    std::vector<int> statuses_;
    std::string body_;
    std::atomic<std::size_t> next_{0};
    RawServer server_{[this](RawServer& self, RawSocket& socket) { answer(self, socket); }};
};

std::int64_t times(const std::string& text, const std::string& part) {
    std::int64_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST(Exporter, sends_what_waits_at_its_end_with_its_headers) {
    Collector collector{{200}};
    {
        Exporter exporter{options(collector.url())};
        for (int i = 0; i < 3; ++i) exporter.add(span());
        exporter.stop();
        EXPECT_EQ(exporter.counts().sent, 3);
        EXPECT_EQ(exporter.counts().dropped, 0);
    }

    std::int64_t spans = 0;
    for (const auto& request : collector.seen()) {
        EXPECT_TRUE(request.starts_with("POST /v1/traces HTTP/1.1\r\n")) << request;
        EXPECT_NE(request.find("Authorization: Bearer s3cret\r\n"), request.npos) << request;
        EXPECT_NE(request.find("Content-Type: application/json\r\n"), request.npos) << request;
        spans += times(request, "\"spanId\"");
    }
    EXPECT_EQ(spans, 3);
}

TEST(Exporter, repeats_what_a_busy_collector_refuses) {
    Collector collector{{503, 429, 200}};
    Exporter exporter{options(collector.url())};
    exporter.add(span());
    const auto settled = [&] { return exporter.counts().sent + exporter.counts().dropped > 0; };
    for (int i = 0; i < 10'000 && !settled(); ++i) std::this_thread::sleep_for(1ms);
    exporter.stop();

    EXPECT_EQ(exporter.counts().sent, 1);
    EXPECT_EQ(exporter.counts().dropped, 0);
    EXPECT_EQ(collector.seen().size(), 3U);
}

TEST(Exporter, drops_what_a_collector_refuses_for_good) {
    Collector collector{{400}};
    Exporter exporter{options(collector.url())};
    exporter.add(span());
    exporter.stop();

    EXPECT_EQ(exporter.counts().sent, 0);
    EXPECT_EQ(exporter.counts().dropped, 1);
    EXPECT_EQ(collector.seen().size(), 1U);
}

TEST(Exporter, counts_the_spans_that_a_collector_rejected_among_others) {
    Collector collector{{200}, R"({"partialSuccess":{"rejectedSpans":"2"}})"};
    Exporter exporter{options(collector.url())};
    for (int i = 0; i < 5; ++i) exporter.add(span());
    exporter.stop();

    EXPECT_EQ(exporter.counts().sent + exporter.counts().dropped, 5);
    EXPECT_GE(exporter.counts().dropped, 2);
}

TEST(Exporter, drops_what_does_not_fit_and_never_waits_for_a_collector_that_is_down) {
    auto given = options("http://127.0.0.1:" + std::to_string(http::testing::closed_port()));
    given.waiting_max = 10;
    Exporter exporter{given};
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 10'000; ++i) exporter.add(span());
    const auto took = std::chrono::steady_clock::now() - began;
    exporter.stop();

    EXPECT_LT(took, 2s);
    EXPECT_EQ(exporter.counts().sent, 0);
    EXPECT_EQ(exporter.counts().dropped, 10'000);
}

TEST(Exporter, its_end_does_not_wait_longer_than_it_may_for_a_collector_that_hangs) {
    std::atomic<bool> over{false};
    RawServer collector{[&](RawServer&, RawSocket& socket) {
        (void)socket.read_message();
        while (!over) std::this_thread::sleep_for(1ms);
    }};
    auto given = options(collector.url());
    given.stop_limit = 300ms;
    Exporter exporter{given};
    for (int i = 0; i < 900; ++i) exporter.add(span());
    const auto began = std::chrono::steady_clock::now();
    exporter.stop();
    const auto took = std::chrono::steady_clock::now() - began;
    over = true;

    EXPECT_LT(took, 3s);
    EXPECT_EQ(exporter.counts().dropped, 900);
}

TEST(Exporter, a_span_after_its_end_is_counted_as_dropped) {
    Collector collector{{200}};
    Exporter exporter{options(collector.url())};
    exporter.stop();
    exporter.add(span());

    EXPECT_EQ(exporter.counts().dropped, 1);
}

}  // namespace
}  // namespace pawl::trace
