// Stages jobs with empty handlers, runs them, and prints the rates as a line of JSON. One of:
//
//   stage     clients commit jobs for a while, without workers
//   work      workers empty a full queue
//   both      clients stage and workers work, with a bounded number of jobs between them
//   latency   jobs are staged at a fixed rate; a share of them may fail at each try (poison), after
//             some seconds if so said (slow poison)
//
// Uses only the public interface. At the end the database must agree: no job lost or left, and only
// poison dead; otherwise the run fails. Slow poison is left.

#include <pawl/database.hpp>
#include <pawl/service.hpp>

#include "benchmarks/job_handlers.hpp"
#include "benchmarks/outside.hpp"
#include "benchmarks/statements.hpp"
#include "src/base/log.hpp"
#include "src/store/store.hpp"

#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pawl::bench {

namespace {

using namespace std::chrono_literals;

enum class Part { stage, work, both, latency };
enum class Handler { tx, call };
// Of the queue, and so high that it never stops a job: what it costs to have one.
enum class Limit { none, running, partition, rate };

struct Given {
    std::string database;
    std::string queue{"embedded"};
    Part part{Part::both};
    Handler handler{Handler::tx};
    Limit limit{Limit::none};  // With tx.
    int workers{4};
    int clients{4};
    int batch{1};  // Jobs in one staging transaction.
    double seconds{3};
    double warm_up{0.5};
    double rate{200};        // Jobs a second, with a fixed rate.
    double poison{0};        // The share of jobs that fail at each try.
    double slow{0};          // Seconds that a try of poison takes; it is a kind of its own then.
    int waiting_max{1'000};  // Most staged jobs that wait, with staging and workers together.
    double every{0};         // Seconds; also print rates for intervals of this length.
    std::string log;
};

constexpr std::size_t jobs_max = 8'000'000;
constexpr std::chrono::seconds patience{60};  // Time without progress before the run fails.
// Short, so that failing jobs pass through all layers during the run.
constexpr std::array<std::chrono::milliseconds, 3> poison_layers{200ms, 400ms, 800ms};

class Bench {
public:
    explicit Bench(const Given& given)
        : given_{given},
          database_{Database::open(given.database)},
          outside_{given.slow > 0 ? "embedded" : given.queue},  // What is left is not counted.
          ledger_{jobs_max} {
        std::copy(poison_layers.begin(), poison_layers.end(), std::back_inserter(layers_));
    }

    void run() {
        switch (given_.part) {
            case Part::stage:
                return stage();
            case Part::work:
                return work();
            case Part::both:
                return both();
            case Part::latency:
                return latency();
        }
    }
    void print() const;

private:
    // The service as a user has it, with the given number of workers.
    std::unique_ptr<Service> service() {
        ServiceOptions options;
        options.workers = given_.workers;
        if (given_.poison > 0) options.retry_layers = layers_;
        options.queue = given_.queue;
        if (given_.limit != Limit::none) options.queues = {limited_queue()};
        auto made = std::make_unique<Service>(*database_, options);
        if (given_.limit != Limit::none)
            made->add(InTx<LimitedNoop>{ledger_});
        else if (given_.handler == Handler::tx)
            made->add(InTx<Noop>{ledger_});
        else
            made->add(InCall{ledger_});
        if (given_.slow > 0) made->add(Hangs{given_.slow});
        return made;
    }

    QueueOptions limited_queue() const {
        QueueOptions queue{.name = "limited", .workers = given_.workers};
        if (given_.limit == Limit::running) queue.running_max = 100'000;
        if (given_.limit == Limit::partition) queue.partition_max = 1'000;
        if (given_.limit == Limit::rate) queue.rate = {.per_second = 100'000, .burst = 100'000};
        return queue;
    }

    std::int64_t count(const Statement<0>& statement) {
        std::int64_t found = 0;
        database_->write([&](Tx& tx) { found = query_one<std::int64_t>(tx, statement); });
        return found;
    }
    // Counts staged jobs first: jobs that are pushed meanwhile are counted twice instead of missed.
    std::int64_t left() {
        const auto in_database = count(sql::count_left);
        return in_database + outside_.left();
    }
    std::int64_t dead() { return count(sql::count_dead) + outside_.dead(); }

    bool stage_one(int batch, bool poison = false) {
        const auto first = ledger_.take(batch);
        if (!first) return false;
        database_->write([&](Tx& tx) {
            for (auto number = *first; number < *first + batch; ++number)
                if (given_.limit != Limit::none)
                    tx.stage(LimitedNoop{.number = number, .poison = poison});
                else
                    tx.stage(Noop{.number = number, .poison = poison});
        });
        ledger_.committed(*first, batch, Clock::now());
        return true;
    }

    void stage_slow_poison() {
        database_->write([](Tx& tx) { tx.stage(SlowPoison{}); });
    }

    // Clients that stage until they are stopped, and pause while enough jobs wait. get() throws a
    // client's exception.
    std::vector<std::future<void>> crowd(std::atomic<bool>& over, std::int64_t waiting_max) {
        std::vector<std::future<void>> clients;
        for (int n = 0; n < given_.clients; ++n)
            clients.push_back(std::async(std::launch::async, [this, &over, waiting_max] {
                while (!over) {
                    const auto staged = ledger_.committed_count();
                    if (waiting_max > 0 && staged - ledger_.ended_count() >= waiting_max &&
                        !ledger_.wait_ended(staged - waiting_max + given_.batch, patience))
                        throw std::runtime_error{"the workers make no progress"};
                    if (!stage_one(given_.batch)) return;
                }
            }));
        return clients;
    }
    static void join(std::vector<std::future<void>>& clients) {
        for (auto& client : clients) client.get();
    }

    void fill(std::int64_t how_many) {
        constexpr int at_once = 500;
        for (std::int64_t staged = 0; staged < how_many; staged += at_once)
            if (!stage_one(static_cast<int>(std::min<std::int64_t>(at_once, how_many - staged))))
                throw std::runtime_error{"more jobs than the ledger has room for"};
    }
    // Waits until all staged jobs are done and the database agrees; returns the seconds since
    // `began`.
    double work_off(Clock::time_point began) {
        if (!ledger_.wait_ended(ledger_.committed_count() - poisoned_, patience))
            throw std::runtime_error{"the workers make no progress"};
        const auto limit = Clock::now() + patience;
        while (left() > 0) {
            if (Clock::now() > limit)
                throw std::runtime_error{"jobs are left that no worker takes"};
            std::this_thread::sleep_for(1ms);
        }
        const Seconds took = Clock::now() - began;
        if (const auto died = dead(); died != poisoned_)
            throw std::runtime_error{std::to_string(died) + " jobs died"};
        return took.count();
    }

    void stage();
    void work();
    void both();
    void latency();
    void tell_intervals();
    void began();
    void ended(std::int64_t jobs, double seconds);

    const Given given_;
    std::unique_ptr<Database> database_;
    Outside outside_;
    JobLedger ledger_;
    std::vector<std::chrono::milliseconds> layers_;
    std::int64_t poisoned_{0};

    // For print().
    store::StoreStats before_;
    double cpu_before_{};
    std::int64_t jobs_{};
    double rate_per_s_{};
    double works_per_job_{};
    double works_per_commit_{};
    double cpu_us_{};
    std::int64_t late_{};
    std::int64_t first_measured_{0};
    std::vector<double> intervals_;
};

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

void Bench::began() {
    before_ = database_->store().stats();
    cpu_before_ = cpu_seconds();
}

void Bench::ended(std::int64_t jobs, double seconds) {
    const auto after = database_->store().stats();
    const auto works = static_cast<double>(after.works - before_.works);
    const auto commits = static_cast<double>(after.commits - before_.commits);
    const auto of = static_cast<double>(std::max<std::int64_t>(jobs, 1));
    jobs_ = jobs;
    rate_per_s_ = static_cast<double>(jobs) / seconds;
    works_per_job_ = works / of;
    works_per_commit_ = works / std::max(commits, 1.0);
    cpu_us_ = (cpu_seconds() - cpu_before_) * 1e6 / of;
}

void Bench::stage() {
    std::atomic<bool> over{false};
    auto clients = crowd(over, 0);
    std::this_thread::sleep_for(Seconds{given_.warm_up});
    began();
    const auto before = ledger_.committed_count();
    const auto from = Clock::now();
    std::this_thread::sleep_for(Seconds{given_.seconds});
    const auto staged = ledger_.committed_count() - before;
    const Seconds took = Clock::now() - from;
    ended(staged, took.count());
    over = true;
    join(clients);
    if (left() != ledger_.committed_count())
        throw std::runtime_error{"the database has other jobs than were staged"};
}

void Bench::work() {
    // An estimate of the jobs that fit into the given time.
    const std::int64_t first = 500 + std::int64_t{100} * given_.workers;
    fill(first);
    double rate = 0;
    {
        const auto probe = service();
        const auto from = Clock::now();
        probe->start();
        rate = static_cast<double>(first) / work_off(from);
        probe->stop(10s);
    }
    const auto jobs = std::max(static_cast<std::int64_t>(rate * given_.seconds), first);
    fill(jobs);
    const auto workers = service();
    began();
    const auto from = Clock::now();
    workers->start();
    ended(jobs, work_off(from));
    workers->stop(10s);
}

// Prints rates of intervals, as the handlers see them.
void Bench::tell_intervals() {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds{given_.seconds});
    auto at = Clock::now();
    auto seen = ledger_.ended_count();
    while (given_.every > 0 && Clock::now() < until) {
        std::this_thread::sleep_for(Seconds{given_.every});
        const auto now = Clock::now();
        const auto count = ledger_.ended_count();
        intervals_.push_back(static_cast<double>(count - seen) / Seconds{now - at}.count());
        std::fprintf(stderr, "%.1f\n", intervals_.back());
        at = now;
        seen = count;
    }
    std::this_thread::sleep_until(until);
}

void Bench::both() {
    const auto workers = service();
    workers->start();
    const auto waiting_max =
        std::max<std::int64_t>(given_.waiting_max, std::int64_t{2} * given_.batch);
    std::atomic<bool> warm{false};
    auto first = crowd(warm, waiting_max);
    std::this_thread::sleep_for(Seconds{given_.warm_up});
    warm = true;
    join(first);
    work_off(Clock::now());

    const auto before = ledger_.committed_count();
    std::atomic<bool> over{false};
    began();
    const auto from = Clock::now();
    auto clients = crowd(over, waiting_max);
    tell_intervals();
    over = true;
    join(clients);
    ended(ledger_.committed_count() - before, work_off(from));
    workers->stop(10s);
}

// Clients take turns, each at its time; late ones are counted, as the rate was not held then.
void Bench::latency() {
    const auto workers = service();
    workers->start();
    // A Kafka consumer takes seconds to join its group.
    if (!stage_one(1) || !ledger_.wait_ended(1, patience))
        throw std::runtime_error{"the workers do not start"};
    first_measured_ = 1;
    const auto turns = static_cast<std::int64_t>(given_.rate * given_.seconds / given_.batch);
    const Seconds apart{given_.batch / given_.rate};
    const auto poison_every =
        given_.poison > 0 ? static_cast<std::int64_t>(1 / given_.poison) : turns + 1;
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> late{0};
    std::atomic<std::int64_t> poisoned{0};
    began();
    const auto from = Clock::now();
    std::vector<std::future<void>> clients;
    for (int n = 0; n < given_.clients; ++n)
        clients.push_back(std::async(std::launch::async, [&] {
            for (auto turn = next++; turn < turns; turn = next++) {
                const auto at =
                    from +
                    std::chrono::duration_cast<Clock::duration>(apart * static_cast<double>(turn));
                if (Clock::now() > at + 100ms) ++late;
                std::this_thread::sleep_until(at);
                const bool poison = turn % poison_every == poison_every - 1;
                if (poison) poisoned += given_.batch;
                if (poison && given_.slow > 0)
                    stage_slow_poison();
                else if (!stage_one(given_.batch, poison))
                    return;
            }
        }));
    join(clients);
    poisoned_ = poisoned;
    late_ = late;
    if (given_.slow > 0) {
        if (!ledger_.wait_ended(ledger_.committed_count(), patience))
            throw std::runtime_error{"the workers make no progress"};
        ended(ledger_.committed_count() - 1, Seconds{Clock::now() - from}.count());
    } else {
        ended(ledger_.committed_count() - 1, work_off(from));
    }
    workers->stop(given_.slow > 0 ? 0s : 10s);
}

void Bench::print() const {
    const auto latencies = ledger_.latencies(first_measured_);
    std::printf(
        "{\"jobs\": %lld, \"rate_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
        "\"longest_ms\": %.3f, "
        "\"works_per_job\": %.3f, \"works_per_commit\": %.3f, \"cpu_us\": %.1f, \"late\": %lld, "
        "\"poisoned\": %lld, "
        "\"intervals\": [",
        static_cast<long long>(jobs_),
        rate_per_s_,
        static_cast<double>(latencies.at(0.5)) / 1e3,
        static_cast<double>(latencies.at(0.99)) / 1e3,
        static_cast<double>(latencies.largest()) / 1e3,
        works_per_job_,
        works_per_commit_,
        cpu_us_,
        static_cast<long long>(late_),
        static_cast<long long>(poisoned_)
    );
    for (std::size_t i = 0; i < intervals_.size(); ++i)
        std::printf("%s%.1f", i == 0 ? "" : ", ", intervals_[i]);
    std::printf("]}\n");
}

}  // namespace

}  // namespace pawl::bench

int main(int argc, char** argv) {
    using namespace pawl::bench;
    CLI::App app{"Jobs a second through a Pawl service, and how long they take"};
    Given given;
    const std::map<std::string, Part> parts{
        {"stage", Part::stage},
        {"work", Part::work},
        {"both", Part::both},
        {"latency", Part::latency}};
    const std::map<std::string, Handler> handlers{{"tx", Handler::tx}, {"call", Handler::call}};
    app.add_option("--database", given.database, "sqlite:FILE or postgres://..., empty")
        ->required();
    app.add_option(
           "--queue", given.queue, "embedded or redis://..., empty; kafka://... with --slow"
    )
        ->capture_default_str();
    app.add_option("--part", given.part)->transform(CLI::CheckedTransformer(parts));
    app.add_option("--handler", given.handler)->transform(CLI::CheckedTransformer(handlers));
    const std::map<std::string, Limit> limits{
        {"none", Limit::none},
        {"running", Limit::running},
        {"partition", Limit::partition},
        {"rate", Limit::rate}};
    app.add_option("--limit", given.limit, "That the queue has, too high to stop a job; with tx")
        ->transform(CLI::CheckedTransformer(limits));
    app.add_option("--workers", given.workers)->capture_default_str();
    app.add_option("--clients", given.clients, "Clients that stage jobs")->capture_default_str();
    app.add_option("--batch", given.batch, "Jobs in a transaction")->capture_default_str();
    app.add_option("--seconds", given.seconds)->capture_default_str();
    app.add_option("--warm-up", given.warm_up)->capture_default_str();
    app.add_option("--rate", given.rate, "Jobs a second; for latency")->capture_default_str();
    app.add_option("--poison", given.poison, "Share of failing jobs; for latency")
        ->capture_default_str();
    app.add_option("--slow", given.slow, "Seconds that poison takes before it fails")
        ->capture_default_str();
    app.add_option("--waiting-max", given.waiting_max, "Most waiting jobs; for both")
        ->capture_default_str();
    app.add_option("--every", given.every, "Seconds between two printed rates; for both");
    app.add_option("--log", given.log, "Log file of the service");
    CLI11_PARSE(app, argc, argv);
    try {
        pawl::log::open(given.log);
        Bench bench{given};
        bench.run();
        bench.print();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "bench_jobs: " << error.what() << "\n";
        return 1;
    }
}
