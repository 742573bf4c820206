#include "apps/standins/simulate.hpp"

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/client/retrying.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace rides {

namespace {

using namespace std::chrono_literals;
using pawl::Answered;
using pawl::ClientResult;
using pawl::client::Retrying;
using pawl::http::Lost;
using pawl::http::NotSent;
using pawl::http::OutgoingRequest;
using pawl::http::Sent;

struct Counts {
    std::atomic<int> settled{0};
    std::atomic<int> replayed{0};
    std::atomic<int> refused{0};
    std::atomic<int> gave_up{0};
    std::atomic<int> changed{0};
    std::atomic<int> tries{0};
    std::atomic<int> lost_requests{0};
    std::atomic<int> lost_answers{0};
    std::atomic<int> sent_twice{0};

    // Records why a ride was not settled, or what changed; the first is shown.
    void trouble(const std::string& why) {
        const std::lock_guard lock{mutex_};
        if (first_trouble_.empty()) first_trouble_ = why;
    }
    std::string first_problem() const {
        const std::lock_guard lock{mutex_};
        return first_trouble_;
    }

private:
    mutable std::mutex mutex_;
    std::string first_trouble_;
};

// Random numbers from the seed and the number of a ride or a phone, so that a run can be repeated.
class Dice {
public:
    Dice(std::uint64_t seed, int number)
        : engine_{seed * 1'000'003 + static_cast<std::uint64_t>(number)} {}
    double part() { return std::uniform_real_distribution<double>{0, 1}(engine_); }
    double between(double least, double most) {
        return std::uniform_real_distribution<double>{least, most}(engine_);
    }

private:
    std::mt19937_64 engine_;
};

// The answer, or why there is none.
std::string text_of(const ClientResult& ended) {
    if (const auto* answered = std::get_if<Answered>(&ended))
        return std::to_string(answered->status) + " " + answered->body;
    const auto* gave_up = std::get_if<pawl::GaveUp>(&ended);
    return gave_up != nullptr ? gave_up->why : "";
}

class Phone {
public:
    Phone(const SimulateOptions& options, int number, Counts& counts)
        : options_{options},
          chance_{options.seed, number},
          counts_{counts},
          retrying_{
              {.send = [this](
                           OutgoingRequest request, const std::stop_token& stop
                       ) { return try_once(std::move(request), stop); },
               .clock = pawl::base::system_clock(),
               .random = pawl::base::system_random(),
               .wait = good_network().wait},
              patient()},
          asking_again_{good_network(), patient()} {}

    void ride(int n, const std::stop_token& stop) {
        const auto request = order(n);
        const auto first = retrying_.perform(request, pawl::Repeat::safe_with_key, stop);
        if (!settled(first)) {
            if (!stop.stop_requested()) count_unsettled(first);
            return;
        }
        ++counts_.settled;
        if (std::get<Answered>(first).replayed) ++counts_.replayed;
        const auto again = asking_again_.perform(request, pawl::Repeat::safe_with_key, stop);
        if (text_of(again) == text_of(first)) return;
        if (is_final(again)) {
            ++counts_.changed;
            counts_.trouble("first " + text_of(first) + ", then " + text_of(again));
        } else if (!stop.stop_requested()) {
            count_unsettled(again);
        }
    }

private:
    // Each phone stands for a process of its own, so they share no retry budget.
    static Retrying::Limits patient() {
        Retrying::Limits limits;
        limits.retry = {
            .first = 20ms,
            .longest = 500ms,
            .shortest = 10ms,
            .tries_max = 100,
            .deadline = 120s,
            .retry_after_max = 300ms};
        limits.budget.per_s = 1e6;
        limits.breaker.failures_max = 0;
        return limits;
    }

    Retrying::Parts good_network() {
        return Retrying::over(transfers_, pawl::base::system_clock(), pawl::base::system_random());
    }

    static int status_of(const ClientResult& ended) {
        const auto* answered = std::get_if<Answered>(&ended);
        return answered != nullptr ? answered->status : 0;
    }
    static bool settled(const ClientResult& ended) {
        return status_of(ended) == 201 || status_of(ended) == 402;
    }
    // False for answers that ask for a retry.
    static bool is_final(const ClientResult& ended) {
        const int status = status_of(ended);
        return status != 0 && status != 409 && status != 429 && status < 500;
    }

    void count_unsettled(const ClientResult& ended) {
        const int status = status_of(ended);
        ++(status >= 400 && status < 500 ? counts_.refused : counts_.gave_up);
        counts_.trouble(text_of(ended));
    }

    // The ride of a seed and a number is the same for each phone.
    OutgoingRequest order(int n) {
        Dice chance{options_.seed, n};
        std::array<char, 256> body{};
        std::snprintf(
            body.data(),
            body.size(),
            R"({"origin_lat":%.4f,"origin_lon":%.4f,"target_lat":%.4f,"target_lon":%.4f})",
            chance.between(-90, 90),
            chance.between(-180, 180),
            chance.between(-90, 90),
            chance.between(-180, 180)
        );
        const auto& token = options_.tokens[static_cast<std::size_t>(n) % options_.tokens.size()];
        return {
            .method = "POST",
            .url = options_.url + "/rides",
            .headers =
                {{"Authorization", "Bearer " + token},
                 {"Idempotency-Key",
                  "simulated-" + std::to_string(options_.seed) + "-" + std::to_string(n)},
                 {"Content-Type", "application/json"}},
            .body = body.data()};
    }

    // What the network does to one try: loses the request, loses the answer, doubles it, or
    // delivers it.
    Sent try_once(OutgoingRequest request, const std::stop_token& stop) {
        ++counts_.tries;
        const double dice = chance_.part();
        if (dice >= options_.bad) return transfers_.perform(std::move(request), stop);
        if (dice < options_.bad / 3) {
            ++counts_.lost_requests;
            return NotSent{"the network lost the request"};
        }
        if (dice < options_.bad * 2 / 3) {
            ++counts_.lost_answers;
            request.timeout = std::chrono::milliseconds{1 + static_cast<int>(chance_.part() * 20)};
            (void)transfers_.perform(std::move(request), stop);
            return Lost{"the network lost the answer"};
        }
        ++counts_.sent_twice;
        transfers_.start(request, [](const Sent&) {});
        return transfers_.perform(std::move(request), stop);
    }

    const SimulateOptions& options_;
    Dice chance_;
    Counts& counts_;
    pawl::http::Transfers transfers_;
    Retrying retrying_;      // Over the bad network.
    Retrying asking_again_;  // Over a good network, to check that an answer stays the same.
};

void print_progress(const Counts& counts, const SimulateOptions& options) {
    std::fprintf(
        stderr,
        "%d of %d rides settled, %d tries, %d lost requests, %d lost answers, %d sent twice\n",
        counts.settled.load(),
        options.rides,
        counts.tries.load(),
        counts.lost_requests.load(),
        counts.lost_answers.load(),
        counts.sent_twice.load()
    );
}

void print_result(const Counts& counts, const SimulateOptions& options) {
    const char* form = options.json
                           ? "{\"seed\": %llu, \"rides\": %d, \"settled\": %d, \"replayed\": %d, "
                             "\"changed\": %d, \"refused\": %d, \"gave_up\": %d, \"tries\": %d}\n"
                           : "seed %llu: %d rides, %d settled (%d by a stored answer), %d answers "
                             "changed, %d refused, %d gave up, %d tries\n";
    std::printf(
        form,
        static_cast<unsigned long long>(options.seed),
        options.rides,
        counts.settled.load(),
        counts.replayed.load(),
        counts.changed.load(),
        counts.refused.load(),
        counts.gave_up.load(),
        counts.tries.load()
    );
    if (const auto why = counts.first_problem(); !why.empty())
        std::fprintf(stderr, "rides simulate: the first problem: %s\n", why.c_str());
}

}  // namespace

std::optional<std::string> SimulateOptions::problem() const {
    if (rides < 1 || rides > 10'000'000)
        return "--rides is " + std::to_string(rides) + ": 1 to 10000000";
    if (clients < 1 || clients > 1'000)
        return "--clients is " + std::to_string(clients) + ": 1 to 1000";
    if (!(bad >= 0 && bad <= 0.9)) return "--bad-network is " + std::to_string(bad) + ": 0 to 0.9";
    if (tokens.empty()) return "--token is missing";
    return std::nullopt;
}

int simulate(const SimulateOptions& given) {
    if (auto why = given.problem()) throw std::invalid_argument{*why};
    auto options = given;
    if (options.seed == 0) options.seed = pawl::base::system_random().next() % 1'000'000 + 1;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);

    Counts counts;
    std::atomic<int> next{0};
    std::atomic<int> running{options.clients};
    {
        std::vector<std::jthread> phones;
        for (int i = 0; i < options.clients; ++i)
            phones.emplace_back([&, i](const std::stop_token& stop) {
                Phone phone{options, i, counts};
                for (int n = next++; n < options.rides && !stop.stop_requested(); n = next++)
                    phone.ride(n, stop);
                --running;
            });
        const timespec moment{0, 100'000'000};
        for (int tenths = 1; running > 0; ++tenths) {
            if (sigtimedwait(&ends, nullptr, &moment) > 0)
                break;  // After Ctrl-C, rides in flight still end and are counted.
            if (tenths % 10 == 0) print_progress(counts, options);
        }
        for (auto& phone : phones) phone.request_stop();
    }
    print_result(counts, options);
    return counts.changed + counts.refused + counts.gave_up == 0 ? 0 : 1;
}

}  // namespace rides
