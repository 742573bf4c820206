// A server with a periodic job at each minute, for periodic_cases.py, which kills it.
//
//   periodic_server DATABASE
//
// The job writes the tick's time into the table `ticks`.
#include <pawl/http.hpp>
#include <pawl/service.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace std::chrono_literals;

constexpr pawl::Sql create{
    "0001_ticks",
    "CREATE TABLE ticks (job TEXT PRIMARY KEY, tick_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE ticks (job TEXT PRIMARY KEY, tick_ms BIGINT NOT NULL)"};
constexpr pawl::Statement<2> insert{
    "insert_tick",
    "INSERT INTO ticks (job, tick_ms) VALUES ($1, $2)",
    "INSERT INTO ticks (job, tick_ms) VALUES ($1, $2)"};

struct Minute {
    static constexpr std::string_view kind = "minute";
    std::int64_t tick_ms{};
};

class MinuteWorker {
public:
    void work(pawl::Tx& tx, const pawl::Job<Minute>& job) {
        pawl::execute(tx, insert, job.id, job.args.tick_ms);
    }
};

int run(const std::string& url) {
    pawl::block_end_signals();
    const auto database = pawl::Database::open(url);
    database->migrate("periodic", std::array{&create});
    // A server may die with the job that it has claimed; the next one gets it after the lease.
    pawl::ServiceOptions options;
    options.job_lease = 3s;
    options.job_timeout = 2s;
    pawl::Service service{*database, options};
    service.add(MinuteWorker{});
    service.every("* * * * *", [](pawl::TimePoint tick) {
        return Minute{tick.time_since_epoch().count()};
    });
    service.start();
    std::puts("started");
    std::fflush(stdout);
    return pawl::wait_for_end_signal() > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 2) throw std::runtime_error{"give a database: see the head of the source"};
        return run(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "periodic_server: %s\n", error.what());
        return 1;
    }
}
