// Times each search of ops/key_search.hpp on a database that benchmarks/search has filled, beside
// the query of one key by its id.

#include "src/engine/key_row.hpp"
#include "src/ops/key_search.hpp"
#include "src/store/open.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace pawl::bench {
namespace {

using namespace std::chrono_literals;

struct Timed {
    std::string name;
    std::size_t rows{};
    double p50_ms{};
    double most_ms{};
};

template <class F>
Timed timed(const std::string& name, int runs, F run) {
    Timed row{.name = name};
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto began = std::chrono::steady_clock::now();
        row.rows = run();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - began;
        times.push_back(took.count());
    }
    std::ranges::sort(times);
    row.p50_ms = times[times.size() / 2];
    row.most_ms = times.back();
    return row;
}

struct Case {
    std::string name;
    ops::KeySearch wanted;
};

// The values are those that benchmarks/search fills in. `n` is the number of a key in the middle.
std::vector<Case> cases(std::int64_t n, TimePoint middle) {
    const auto number = std::to_string(n);
    const auto reference = [&](const char* name, const std::string& id) {
        return ops::KeyReference{name, id};
    };
    return {
        {"all", {}},
        {"the second page", {.after = ops::KeyPlace{middle, n}}},
        {"key", {.key = "key-" + number}},
        {"key and account",
         {.key = "key-" + number, .account = "user-" + std::to_string(n % 10'000)}},
        {"account", {.account = "user-" + std::to_string(n % 10'000)}},
        {"account of every fifth key", {.account = "busy"}},
        {"request id", {.reference = reference("request", "req-" + number)}},
        {"ride", {.reference = reference("ride", number)}},
        {"charge", {.reference = reference("charge", "ch_" + number)}},
        {"a text: the charge", {.text = "ch_" + number}},
        {"operation", {.operation = "book_ride"}},
        {"operation of ten keys", {.operation = "rare"}},
        {"state open", {.state = "open"}},
        {"state attention", {.state = "attention"}},
        {"state finished", {.state = "finished"}},
        {"point", {.point = "ride_created"}},
        {"error", {.error = "timed out"}},
        {"an hour", {.since = middle, .until = middle + 1h}},
        {"account, operation, time",
         {.account = "busy", .operation = "refund_ride", .since = middle}},
        {"account, state", {.account = "busy", .state = "open"}},
        {"operation, error", {.operation = "book_ride", .error = "timed out"}},
        {"operation, point, time",
         {.operation = "book_ride", .point = "ride_created", .since = middle}},
        {"expired: the charge", {.reference = reference("charge", "ch_x7")}},
        {"expired: all", {.state = "expired"}},
        {"expired: key and account",
         {.key = "gone", .account = "user-7", .tenant = "rocket-rides"}},
        {"an unknown key, tried for 3,000 accounts", {.key = "gone"}},
        {"an unknown request id", {.reference = reference("request", "none")}},
    };
}

void print(const Timed& row) {
    std::printf("%s\t%zu\t%.3f\t%.3f\n", row.name.c_str(), row.rows, row.p50_ms, row.most_ms);
    std::fflush(stdout);
}

int run(const std::string& url, int runs, std::int64_t n) {
    const auto store = store::open_store(url, Database::As::tool);
    const auto in = [&](auto f) { return store::read_now(*store, f); };
    const auto place =
        in([&](store::Session& session) { return ops::place_of_key(session, n).value(); });
    print(timed("floor: a key by its id", runs, [&] {
        return in([&](store::Session& session) {
            return std::size_t{engine::find_key(session, n).has_value()};
        });
    }));
    for (const auto& one : cases(n, place.at))
        print(timed(one.name, runs, [&] {
            return in([&](store::Session& session) {
                return ops::search_keys(session, one.wanted).rows.size();
            });
        }));
    store->stop();
    return 0;
}

}  // namespace
}  // namespace pawl::bench

int main(int count, char** words) {
    CLI::App app{"Times the searches for keys"};
    std::string url;
    int runs = 21;
    std::int64_t key = 0;
    app.add_option("--database", url)->required();
    app.add_option("--runs", runs)->capture_default_str();
    app.add_option("--key", key, "Number of a key in the middle")->required();
    CLI11_PARSE(app, count, words);
    return pawl::bench::run(url, runs, key);
}
