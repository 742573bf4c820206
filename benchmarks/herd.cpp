// bench_herd: clients against a server that was down and comes back at half its strength, in
// virtual time, by the retry rules of pawl::Client (src/client/retry_machine.hpp) and by others for
// comparison. Prints JSON.
#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/client/retry_machine.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace std::chrono_literals;
using pawl::client::RetryMachine;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock::time_point;

struct World {
    int clients{1'000};
    int in_a_process{100};
    milliseconds down{10s};      // From the start.
    milliseconds arrivals{20s};  // Each client has one request, at a random time in this span.
    milliseconds timeout{5s};
    double queue_s{10};  // The most work that may wait; more is 503.
    std::uint64_t seed{1};
    // At full strength it could serve twice the load; now it serves exactly the load.
    double served_per_s() const {
        return clients / std::chrono::duration<double>{arrivals}.count();
    }
};

class VirtualClock final : public pawl::base::Clock {
public:
    pawl::TimePoint now() override {
        return pawl::TimePoint{
            std::chrono::duration_cast<milliseconds>(steady_.time_since_epoch())};
    }
    Steady steady() override { return steady_; }
    void set(Steady to) { steady_ = to; }

private:
    Steady steady_{1h};
};

class Chance final : public pawl::base::Random {
public:
    Chance(std::uint64_t seed, bool fixed) : state_{seed}, fixed_{fixed} {}
    std::uint64_t next() override {
        if (fixed_) return ~std::uint64_t{0};  // Always the longest wait: no jitter.
        state_ += 0x9E3779B97F4A7C15U;         // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

private:
    std::uint64_t state_;
    bool fixed_;
};

struct Strategy {
    std::string name;
    pawl::core::Jitter jitter{};
    bool no_jitter{false};
    bool limited{false};  // By budget and breaker.
};

struct Seen {
    std::vector<int> tries;  // In each quarter of a second.
    std::int64_t sent{0};
    std::int64_t refused{0};   // The server was down.
    std::int64_t overflow{0};  // 503.
    std::int64_t in_vain{0};   // Served for a client that had gone.
    std::int64_t served{0};
    int answered{0};
    int gave_up{0};
    double last_s{0};  // Time until the last was answered.
};

class Herd {
public:
    Herd(const World& world, const Strategy& strategy)
        : world_{world}, random_{world.seed, strategy.no_jitter}, begin_{clock_.steady()} {
        pawl::core::RetryRule retry{
            .jitter = strategy.jitter, .tries_max = 1'000'000, .deadline = 1h};
        pawl::core::BudgetRule budget;
        pawl::core::BreakerRule breaker;
        if (!strategy.limited) {
            budget.per_s = 1e6;
            budget.burst = 1'000'000;
            breaker.failures_max = 0;
        }
        const int processes = (world.clients + world.in_a_process - 1) / world.in_a_process;
        for (int i = 0; i < processes; ++i) {
            servers_.push_back(std::make_unique<pawl::client::Servers>(budget, breaker));
            rules_.push_back(pawl::client::Rules{retry, *servers_.back(), clock_, random_, {}});
        }
        Chance when{world.seed, false};
        clients_.resize(static_cast<std::size_t>(world.clients));
        for (std::size_t i = 0; i < clients_.size(); ++i)
            at(begin_ + std::chrono::duration_cast<microseconds>(world.arrivals * when.dice()),
               {Event::What::next, i, 0});
    }

    Seen run() {
        while (!events_.empty()) {
            const auto [when, order, event] = events_.top();
            events_.pop();
            clock_.set(when);
            happen(event);
        }
        return std::move(seen_);
    }

private:
    struct Event {
        enum class What { next, served, timeout } what{};
        std::size_t client{};
        int number{};  // Number of the try.
    };
    struct Due {
        Steady when;
        std::uint64_t order;
        Event event;
        bool operator<(const Due& other) const {
            return std::tie(other.when, other.order) < std::tie(when, order);
        }
    };
    struct Client {
        std::unique_ptr<RetryMachine> course;
        int tries{0};
        bool waits{false};  // For an answer to its last try.
    };

    void at(Steady when, Event event) { events_.push({when, ++order_, event}); }

    void happen(const Event& event) {
        auto& client = clients_[event.client];
        switch (event.what) {
            case Event::What::next: {
                if (!client.course) {
                    const auto process =
                        event.client / static_cast<std::size_t>(world_.in_a_process);
                    client.course = std::make_unique<RetryMachine>(
                        rules_[process], pawl::Repeat::safe_with_key, "http://server:80"
                    );
                }
                return go_on(event.client, client.course->next());
            }
            case Event::What::served: {
                ++seen_.served;
                if (!client.waits || client.tries != event.number) {
                    ++seen_.in_vain;
                    return;
                }
                client.waits = false;
                return go_on(
                    event.client,
                    client.course->after(pawl::http::IncomingResponse{
                        .status = 201, .headers = {}, .body = {}})
                );
            }
            case Event::What::timeout:
                if (!client.waits || client.tries != event.number) return;
                client.waits = false;
                return go_on(event.client, client.course->after(pawl::http::Lost{"time-out"}));
        }
    }

    void go_on(std::size_t who, RetryMachine::Next next) {
        auto& client = clients_[who];
        const auto now = clock_.steady();
        if (const auto* wait = std::get_if<RetryMachine::Wait>(&next))
            return at(now + wait->wait, {Event::What::next, who, 0});
        if (const auto* end = std::get_if<pawl::ClientResult>(&next)) {
            ++(std::holds_alternative<pawl::Answered>(*end) ? seen_.answered : seen_.gave_up);
            seen_.last_s = std::chrono::duration<double>(now - begin_).count();
            return;
        }
        ++client.tries;
        ++seen_.sent;
        const auto bin = static_cast<std::size_t>((now - begin_) / 250ms);
        if (seen_.tries.size() <= bin) seen_.tries.resize(bin + 1);
        ++seen_.tries[bin];
        if (now < begin_ + world_.down) {
            ++seen_.refused;
            return go_on(who, client.course->after(pawl::http::NotSent{"refused"}));
        }
        const std::chrono::duration<double> waiting = std::max(free_at_ - now, Steady::duration{0});
        if (waiting.count() > world_.queue_s) {
            ++seen_.overflow;
            return go_on(
                who,
                client.course->after(pawl::http::IncomingResponse{
                    .status = 503, .headers = {}, .body = {}})
            );
        }
        free_at_ = std::max(free_at_, now) +
                   std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>{
                       1 / world_.served_per_s()});
        client.waits = true;
        at(free_at_, {Event::What::served, who, client.tries});
        at(now + world_.timeout, {Event::What::timeout, who, client.tries});
    }

    World world_;
    VirtualClock clock_;
    Chance random_;
    const Steady begin_;
    std::vector<std::unique_ptr<pawl::client::Servers>> servers_;  // One for each process.
    std::deque<pawl::client::Rules> rules_;
    std::vector<Client> clients_;
    std::priority_queue<Due> events_;
    std::uint64_t order_{0};
    Steady free_at_{};
    Seen seen_;
};

void print(const Strategy& strategy, const Seen& seen, const World& world, bool last) {
    const auto back = static_cast<std::size_t>(world.down / 250ms);
    int peak = 0;
    for (std::size_t i = back; i < seen.tries.size(); ++i) peak = std::max(peak, seen.tries[i]);
    std::printf(
        "  {\"name\": \"%s\", \"clients\": %d, \"served_per_s\": %.1f, \"peak_per_s\": %d, "
        "\"sent\": %lld, "
        "\"refused\": %lld, \"overflow\": %lld, \"served\": %lld, \"in_vain\": %lld, \"answered\": "
        "%d, "
        "\"gave_up\": %d, \"last_s\": %.1f,\n   \"tries\": [",
        strategy.name.c_str(),
        world.clients,
        world.served_per_s(),
        peak * 4,
        static_cast<long long>(seen.sent),
        static_cast<long long>(seen.refused),
        static_cast<long long>(seen.overflow),
        static_cast<long long>(seen.served),
        static_cast<long long>(seen.in_vain),
        seen.answered,
        seen.gave_up,
        seen.last_s
    );
    for (std::size_t i = 0; i < seen.tries.size(); ++i)
        std::printf("%s%d", i == 0 ? "" : ", ", seen.tries[i]);
    std::printf("]}%s\n", last ? "" : ",");
}

}  // namespace

int main(int argc, char** argv) {
    World world;
    CLI::App app{"Clients against a server that was down, in virtual time; prints JSON"};
    app.add_option("--clients", world.clients, "Each has one request")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--in-a-process", world.in_a_process, "Clients that share budget and breaker")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", world.seed)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    using pawl::core::Jitter;
    const std::vector<Strategy> strategies{
        {"no jitter", Jitter::full, true},
        {"full jitter", Jitter::full},
        {"Stripe's formula", Jitter::stripe},
        {"decorrelated jitter", Jitter::decorrelated},
        {"pawl::Client", Jitter::decorrelated, false, true},
    };
    std::printf("[\n");
    for (std::size_t i = 0; i < strategies.size(); ++i)
        print(strategies[i], Herd{world, strategies[i]}.run(), world, i + 1 == strategies.size());
    std::printf("]\n");
    return 0;
}
