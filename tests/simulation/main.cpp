// pawl-sim: runs histories until one breaks an invariant, shrinks that one, and prints it.

#include "src/base/log.hpp"
#include "src/cli/numbers.hpp"
#include "tests/simulation/exhaust.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/shrink.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pawl::simulation;

struct Given {
    std::uint64_t seed{1};
    std::uint64_t histories{1'000};
    std::string choices;
    HistoryOptions options;
    int shrink_tries{2'000};
    std::size_t lines{30};  // Most lines printed of one history.
    bool tells{false};
    int deviations{0};
    int jobs{1};
};

int tell(const std::vector<std::uint8_t>& list, const Given& given) {
    auto options = given.options;
    const auto told_max = given.lines;
    options.tells = true;
    Choices choices{list};
    const auto ended = live(choices, options);
    // The middle of a long one is the least useful.
    for (std::size_t i = 0; i < ended.told.size(); ++i) {
        if (ended.told.size() > told_max && i == told_max / 2) {
            std::printf("  ... %zu lines\n", ended.told.size() - told_max);
            i = ended.told.size() - told_max / 2;
        }
        std::printf("  %s\n", ended.told[i].c_str());
    }
    std::printf("%s\n", ended.violation ? ended.violation->c_str() : "no violation");
    return ended.violation ? 1 : 0;
}

int explain(const Given& given, const std::string& which, std::vector<std::uint8_t> list) {
    std::printf(
        "%s breaks an invariant; shrinking its %zu choices ...\n", which.c_str(), list.size()
    );
    std::fflush(stdout);
    list = shrunk(
        std::move(list),
        [&](const std::vector<std::uint8_t>& candidate) {
            Choices choices{candidate};
            return live(choices, given.options).violation.has_value();
        },
        given.shrink_tries
    );
    tell(list, given);
    std::printf(
        "again: pawl-sim %s%s--choices %s\n",
        given.options.small ? "--small " : "",
        given.options.small_works ? "--workers " : "",
        text_of(list).c_str()
    );
    return 1;
}

using Clock = std::chrono::steady_clock;

unsigned long long as_number(std::uint64_t n) {
    return n;
}

int exhaust(Given given) {
    given.options.small = true;  // Also for runs that print one of them.
    const auto began = Clock::now();
    auto next_word = began + std::chrono::seconds{30};
    const auto seconds = [&] {
        return std::chrono::duration<double>{Clock::now() - began}.count();
    };
    const auto say = [&](const Exhausted& so_far, const char* how) {
        std::printf(
            "%s histories with at most %d non-quiet choices: %llu, %llu steps, %llu "
            "different states; %.0f a second\n",
            how,
            given.deviations,
            as_number(so_far.histories),
            as_number(so_far.steps),
            as_number(so_far.states),
            static_cast<double>(so_far.histories) / seconds()
        );
        std::fflush(stdout);
    };
    const auto all = live_all(given.options, given.deviations, [&](const Exhausted& so_far) {
        if (Clock::now() < next_word) return true;
        next_word = Clock::now() + std::chrono::seconds{30};
        say(so_far, "so far");
        return true;
    });
    if (all.violation) return explain(given, "one of them", all.choices);
    say(all, "all");
    return 0;
}

// Over all threads.
struct Sum {
    std::atomic<std::uint64_t> next{0};
    std::mutex mutex;  // Guards the members below.
    std::uint64_t steps{0}, crashes{0}, freezes{0}, failed_commits{0}, clock_steps{0}, jobs{0},
        settled{0}, expired{0}, restores{0};
    // The one with the lowest seed.
    std::optional<std::pair<std::uint64_t, std::vector<std::uint8_t>>> broken;
    std::exception_ptr failure;

    void add(const Ended& ended) {
        const auto count = [](std::uint64_t& sum, int more) {
            sum += static_cast<std::uint64_t>(more);
        };
        const std::lock_guard lock{mutex};
        count(steps, ended.steps);
        count(crashes, ended.crashes);
        count(freezes, ended.freezes);
        count(failed_commits, ended.failed_commits);
        count(clock_steps, ended.clock_steps);
        count(jobs, ended.jobs);
        count(settled, ended.settled);
        count(expired, ended.expired);
        count(restores, ended.restores);
    }
    bool goes_on() {
        const std::lock_guard lock{mutex};
        return !broken && !failure;
    }
};

void live_some(const Given& given, Sum& sum) {
    try {
        while (sum.goes_on()) {
            const auto i = sum.next++;
            if (i >= given.histories) return;
            Choices choices{given.seed + i};
            const auto ended = live(choices, given.options);
            sum.add(ended);
            if (!given.tells && !ended.violation) continue;
            const std::lock_guard lock{sum.mutex};
            if (given.tells) tell(choices.taken(), given);
            if (ended.violation && (!sum.broken || given.seed + i < sum.broken->first))
                sum.broken.emplace(given.seed + i, choices.taken());
        }
    } catch (...) {
        const std::lock_guard lock{sum.mutex};
        sum.failure = std::current_exception();
    }
}

int run(const Given& given) {
    if (given.deviations > 0) return exhaust(given);
    if (!given.choices.empty()) return tell(choices_of(given.choices), given);
    const auto began = Clock::now();
    Sum sum;
    std::vector<std::thread> threads;
    for (int i = 0; i < given.jobs; ++i) threads.emplace_back([&] { live_some(given, sum); });
    for (auto& thread : threads) thread.join();
    if (sum.failure) std::rethrow_exception(sum.failure);
    if (sum.broken) {
        const auto& [seed, choices] = *sum.broken;
        return explain(given, "seed " + std::to_string(seed), choices);
    }
    const std::chrono::duration<double> took = Clock::now() - began;
    std::printf(
        "%llu histories from seed %llu, %llu steps, %llu deaths, %llu stops, %llu failed commits, "
        "%llu steps of the clock, %llu tries of jobs, %llu decisions of people, %llu keys expired, "
        "%llu restores: no violation; %.0f a second\n",
        as_number(given.histories),
        as_number(given.seed),
        as_number(sum.steps),
        as_number(sum.crashes),
        as_number(sum.freezes),
        as_number(sum.failed_commits),
        as_number(sum.clock_steps),
        as_number(sum.jobs),
        as_number(sum.settled),
        as_number(sum.expired),
        as_number(sum.restores),
        static_cast<double>(given.histories) / took.count()
    );
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Runs histories of the real engine on virtual time, with faults, and checks the "
        "invariants"};
    Given given;
    app.add_option("--seed", given.seed, "Seed of the first history; each further one adds 1")
        ->capture_default_str();
    app.add_option("--histories", given.histories)->capture_default_str();
    app.add_option(
        "--choices", given.choices, "Run and print one history, by the choices of an earlier run"
    );
    app.add_option(
        "--exhaust",
        given.deviations,
        "Instead, run every history of a small world (two servers, two clients, one key) with at "
        "most "
        "so many non-quiet choices"
    );
    app.add_flag("--small", given.options.small, "With --choices: a history of the small world");
    app.add_flag("--workers", given.options.small_works, "With --exhaust: workers run jobs, too");
    app.add_option("--crashes", given.options.crashes_max, "Most crashes in each history")
        ->capture_default_str();
    app.add_option(
           "--shrink-tries", given.shrink_tries, "Most histories to find a shorter failing one"
    )
        ->capture_default_str();
    app.add_option("--jobs", given.jobs, "Threads, each with its own world")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_flag("--tell", given.tells, "Print every history, also without a violation");
    app.add_option(
           "--lines", given.lines, "Most lines of a printed history; the middle is left out"
    )
        ->capture_default_str();
    pawl::cli::check_all_decimal(app);
    CLI11_PARSE(app, argc, argv);
    try {
        pawl::log::open("/dev/null");
        return run(given);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pawl-sim: %s\n", error.what());
        return 2;
    }
}
