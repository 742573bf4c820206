#pragma once

#include <pawl/service.hpp>

#include "benchmarks/job_ledger.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

// The jobs of ./bench jobs. Their handlers do nothing but tell the ledger that they ended.
namespace pawl::bench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Noop {
    static constexpr std::string_view kind = "bench_noop";
    std::int64_t number{};
    bool poison{};
};

// Of one of a hundred tenants, in the queue with the limit.
struct LimitedNoop {
    static constexpr std::string_view kind = "bench_limited_noop";
    static constexpr JobSettings settings{.queue = "limited"};
    std::string partition() const { return std::to_string(number % 100); }
    std::int64_t number{};
    bool poison{};
};

template <class Args>
void end(JobLedger& ledger, const Args& noop) {
    if (noop.poison) throw std::runtime_error{"poison"};
    ledger.ended(noop.number, Clock::now());
}

template <class Args>
class InTx {
public:
    explicit InTx(JobLedger& ledger) : ledger_{&ledger} {}
    void work(Tx&, const Job<Args>& job) { end(*ledger_, job.args); }

private:
    JobLedger* ledger_;
};

class InCall {
public:
    explicit InCall(JobLedger& ledger) : ledger_{&ledger} {}
    void work(Call&, const Job<Noop>& job) { end(*ledger_, job.args); }

private:
    JobLedger* ledger_;
};

struct SlowPoison {
    static constexpr std::string_view kind = "bench_slow_poison";
    static constexpr JobSettings settings{.timeout = std::chrono::seconds{40}};
};

// A receiver that accepts, and does not answer until its client's time-out.
class Hangs {
public:
    explicit Hangs(double seconds) : seconds_{seconds} {}
    void work(Call& call, const Job<SlowPoison>&) {
        const auto until = Clock::now() + seconds_;
        while (Clock::now() < until && !call.stop().stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        throw std::runtime_error{"no answer"};
    }

private:
    Seconds seconds_;
};

}  // namespace pawl::bench
