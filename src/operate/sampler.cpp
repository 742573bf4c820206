#include "src/operate/sampler.hpp"

#include <pawl/detail/rows.hpp>
#include <pawl/json.hpp>

#include "src/engine/engine.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace pawl::operate {

namespace {

const prometheus::MetricFamily* find(const Families& families, std::string_view name) {
    const auto found = std::ranges::find(families, name, &prometheus::MetricFamily::name);
    return found == families.end() ? nullptr : &*found;
}

bool has_label(
    const prometheus::ClientMetric& metric, std::string_view name, std::string_view value
) {
    return std::ranges::any_of(metric.label, [&](const auto& label) {
        return label.name == name && label.value == value;
    });
}

bool is_answered(const prometheus::ClientMetric& metric) {
    return has_label(metric, "outcome", "completed") || has_label(metric, "outcome", "replayed");
}

template <class F>
std::int64_t sum(const Families& families, std::string_view name, const F& value) {
    double all = 0;
    if (const auto* family = find(families, name))
        for (const auto& metric : family->metric) all += value(metric);
    return std::llround(all);
}

std::int64_t gauge(const Families& families, std::string_view name) {
    return sum(families, name, [](const auto& metric) { return metric.gauge.value; });
}

using Buckets = std::map<double, double>;  // The upper bound, and how many are below it.

Buckets buckets_of(const Families& families, std::string_view name) {
    Buckets all;
    if (const auto* family = find(families, name))
        for (const auto& metric : family->metric)
            for (const auto& bucket : metric.histogram.bucket)
                all[bucket.upper_bound] += double(bucket.cumulative_count);
    return all;
}

// The bound below which 95 % of what came between the two are, in ms; what is above every bound
// counts as the largest.
std::int64_t p95_ms(const Buckets& before, const Buckets& now) {
    if (now.empty()) return 0;
    const auto since = [&](double bound, double count) {
        const auto found = before.find(bound);
        return count - (found == before.end() ? 0 : found->second);
    };
    const auto all = since(now.rbegin()->first, now.rbegin()->second);
    if (all <= 0) return 0;
    double largest = 0;
    for (const auto& [bound, count] : now) {
        if (std::isfinite(bound)) largest = bound;
        if (since(bound, count) >= 0.95 * all) break;
    }
    return std::llround(1'000 * largest);
}

}  // namespace

page::Sample sample_between(const Families& before, const Families& now) {
    constexpr auto requests = "pawl_requests_total";
    constexpr auto times = "http_server_request_duration_seconds";
    const auto all = [](const auto& metric) { return metric.counter.value; };
    const auto failed = [](const auto& metric) {
        return is_answered(metric) ? 0.0 : metric.counter.value;
    };
    return {
        .requests = sum(now, requests, all) - sum(before, requests, all),
        .failed = sum(now, requests, failed) - sum(before, requests, failed),
        .p95_ms = p95_ms(buckets_of(before, times), buckets_of(now, times)),
        .open = gauge(now, "pawl_keys_open"),
        .oldest_s = gauge(now, "pawl_keys_oldest_open_seconds"),
        .attention = gauge(now, "pawl_attention"),
        .jobs = gauge(now, "pawl_jobs"),
        .dead = gauge(now, "pawl_dead_jobs")};
}

void Sampler::write(const page::Sample& sample) {
    auto& store = service_.engine().store();
    store::write_now(store, [&](store::Session& session) {
        const auto now = session.now();
        detail::execute_statement(
            session, sql::insert_sample, now, store.server().value_or(0), to_json(sample)
        );
        detail::execute_statement(session, sql::delete_samples, now - kept);
    });
}

void Sampler::run(const std::stop_token& stop, const std::function<Families()>& read) {
    std::optional<Families> before;  // nullopt: there is no minute yet.
    ops::rounds(stop, service_.engine().clock(), every, "sampler", [&](TimePoint) {
        auto now = read();
        if (before) write(sample_between(*before, now));
        before = std::move(now);
        return false;
    });
}

}  // namespace pawl::operate
