#include "src/ops/scheduler.hpp"

#include "tests/postgres/two_stores.hpp"

#include <array>
#include <thread>

// Periodic jobs of servers that see a tick at the same moment.
namespace pawl::postgres::scheduler_test {
namespace {

struct Report {
    static constexpr std::string_view kind = "report";
};
constexpr Sql count_jobs = on_all("count_reports", "SELECT count(*) FROM pawl_jobs");

class SchedulerRaceTest : public ::testing::Test {
protected:
    struct Server {
        Server(const std::string& url, base::Clock& clock)
            : store{
                  {.url = url, .connections = 4, .database_clock = false},
                  clock,
                  base::system_random()} {
            store::apply_migrations(store, "pawl", sql::migrations::all);
            engine = std::make_unique<engine::Engine>(
                engine::Engine::Parts{store, clock, base::system_random()},
                engine::EngineOptions{},
                engine::open_installation(store, clock, base::system_random(), "")
            );
            scheduler = std::make_unique<ops::Scheduler>(*engine, [this] { ++staged; });
            scheduler->add(ops::periodic_job("* * * * *", {}, Report::kind, [](Tx& tx, TimePoint) {
                tx.stage(Report{});
            }));
        }
        PostgresStore store;
        std::unique_ptr<engine::Engine> engine;
        std::unique_ptr<ops::Scheduler> scheduler;
        int staged{0};
    };
    testing::PostgresDatabase database;
    HandClock clock;
};

}  // namespace

TEST_F(SchedulerRaceTest, of_three_servers_one_stages_the_job_of_each_tick) {
    constexpr int ticks = 100;
    std::array<std::unique_ptr<Server>, 3> servers;
    for (auto& server : servers) {
        server = std::make_unique<Server>(database.url(), clock);
        server->scheduler->run_once();
    }
    for (int tick = 1; tick <= ticks; ++tick) {
        clock.advance(1min);
        std::vector<std::thread> all;
        for (auto& server : servers) all.emplace_back([&] { server->scheduler->run_once(); });
        for (auto& one : all) one.join();
        ASSERT_EQ(read_rows<std::int64_t>(servers[0]->store, count_jobs).at(0), tick);
    }
    EXPECT_EQ(servers[0]->staged + servers[1]->staged + servers[2]->staged, ticks);
}

}  // namespace pawl::postgres::scheduler_test
