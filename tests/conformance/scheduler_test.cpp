#include "src/ops/scheduler.hpp"

#include "src/base/random.hpp"
#include "src/base/time_text.hpp"
#include "tests/conformance/each_store.hpp"

#include <gmock/gmock.h>

// Periodic jobs on each store: one job for each tick, whatever the servers do.
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

struct Report {
    static constexpr std::string_view kind = "report";
    std::string of;
};

constexpr Sql args_of_jobs = on_all("args_of_jobs", "SELECT args FROM pawl_jobs ORDER BY id");
constexpr Sql args_of_staged =
    on_all("args_of_staged", "SELECT args FROM pawl_staged_jobs ORDER BY id");
constexpr auto damage_a =
    on_all<0>("damage_a", "UPDATE pawl_schedules SET next_at = 'infinity' WHERE name = 'a'");
constexpr auto set_next = on_all<1>("set_next", "UPDATE pawl_schedules SET next_at = $1");

// A server's scheduler. The clock stands at 2027-01-15T08:00:00Z.
class Server {
public:
    Server(store::Store& store, base::Clock& clock, engine::EngineOptions options = {})
        : engine{
              {store, clock, base::system_random()},
              options,
              engine::open_installation(store, clock, base::system_random(), "")} {}
    Server& every(const std::string& cron, const PeriodicOptions& options = {}) {
        scheduler.add(ops::periodic_job(
            cron,
            options,
            Report::kind,
            [this, name = options.name](Tx& tx, TimePoint tick) {
                tx.stage(Report{base::time_text(tick)});
                if (fails || (!name.empty() && name == failing))
                    throw std::runtime_error{"no report"};
            }
        ));
        return *this;
    }
    std::chrono::milliseconds run_once() { return scheduler.run_once(); }

    engine::Engine engine;
    int woken{0};
    bool fails{false};
    std::string failing{};  // The name of a job.
    ops::Scheduler scheduler{engine, [this] { ++woken; }};
};

class SchedulerTest : public OnEachStore {
protected:
    struct Row {
        std::string name;
        std::string schedule;
        TimePoint next_at;
        std::optional<TimePoint> last_at;
    };
    Row row() { return read_rows<Row>(*store, sql::list_schedules).at(0); }
    Texts jobs(const Sql& list = args_of_jobs) { return read_rows<std::string>(*store, list); }
    static std::string report(const std::string& of) {
        return R"({"of":"2027-01-15T)" + of + R"(:00.000Z"})";
    }
};
PAWL_ON_EACH_STORE(SchedulerTest);

}  // namespace

TEST_P(SchedulerTest, a_job_is_staged_at_each_tick_and_not_before) {
    Server server{*store, clock};
    server.every("*/30 * * * *");

    EXPECT_EQ(server.run_once(), 1min) << "it looks again that soon";
    clock.advance(30min - 1s);
    EXPECT_EQ(server.run_once(), 1s);
    EXPECT_EQ(server.woken, 0);
    clock.advance(1s);
    server.run_once();
    server.run_once();
    EXPECT_EQ(server.woken, 1);
    clock.advance(30min);
    server.run_once();

    EXPECT_THAT(jobs(), ElementsAre(report("08:30"), report("09:00")));
    EXPECT_EQ(row().name, "report");
    EXPECT_EQ(row().schedule, "*/30 * * * * UTC");
    EXPECT_EQ(row().last_at, clock.now());
    EXPECT_EQ(row().next_at, clock.now() + 30min);
}

// Issue 38, number 5: the jobs that were declared later were never staged.
TEST_P(SchedulerTest, a_job_that_fails_does_not_stop_the_others) {
    Server server{*store, clock};
    server.every("@hourly", {.name = "a"}).every("@hourly", {.name = "b"});
    server.failing = "a";
    server.run_once();
    clock.advance(1h);

    EXPECT_THROW(server.run_once(), std::runtime_error);

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
    write_one(*store, damage_a);
    clock.advance(1h);
    EXPECT_THROW(server.run_once(), std::exception);
    EXPECT_THAT(jobs(), ElementsAre(report("09:00"), report("10:00")));
}

TEST_P(SchedulerTest, of_two_servers_one_stages_the_job) {
    Server one{*store, clock};
    Server two{*store, clock};
    one.every("@hourly").run_once();
    two.every("@hourly").run_once();
    clock.advance(1h);

    one.run_once();
    two.run_once();

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
    EXPECT_EQ(one.woken + two.woken, 1);
}

TEST_P(SchedulerTest, a_tick_at_which_no_server_ran_is_run_at_the_next_start) {
    Server{*store, clock}.every("@hourly").run_once();
    clock.advance(5h + 30min);

    Server{*store, clock}.every("@hourly").run_once();

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
    EXPECT_EQ(row().next_at, clock.now() + 30min);
}

TEST_P(SchedulerTest, or_is_skipped_if_the_schedule_says_so) {
    const PeriodicOptions skip{.skip_missed = true};
    Server{*store, clock}.every("@hourly", skip).run_once();
    clock.advance(5h + 30min);

    Server{*store, clock}.every("@hourly", skip).run_once();

    EXPECT_THAT(jobs(), ElementsAre());
    EXPECT_EQ(row().next_at, clock.now() + 30min);
    EXPECT_EQ(row().last_at, std::nullopt);
}

TEST_P(SchedulerTest, a_schedule_that_was_changed_is_run_by_servers_that_know_the_change) {
    Server old{*store, clock};
    old.every("@hourly").run_once();
    Server{*store, clock}.every("*/10 * * * *").run_once();
    clock.advance(1h);

    old.run_once();

    EXPECT_THAT(jobs(), ElementsAre());
    Server{*store, clock}.every("*/10 * * * *").run_once();
    EXPECT_THAT(jobs(), ElementsAre(report("08:10")));
}

TEST_P(SchedulerTest, a_tick_whose_job_can_not_be_staged_comes_again) {
    Server server{*store, clock};
    server.every("@hourly").run_once();
    clock.advance(1h);
    server.fails = true;
    EXPECT_THROW(server.run_once(), std::runtime_error);
    EXPECT_THAT(jobs(), ElementsAre());
    server.fails = false;

    server.run_once();

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
}

TEST_P(SchedulerTest, two_schedules_of_one_kind_have_names_and_ticks_of_their_own) {
    Server server{*store, clock};
    server.every("@hourly", {.name = "hourly"});
    server.every("30 8 * * *", {.name = "daily", .time_zone = "Europe/Berlin"});
    server.run_once();
    clock.advance(1h);

    EXPECT_EQ(server.run_once(), 1min);

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
    const auto rows = read_rows<Row>(*store, sql::list_schedules);
    ASSERT_EQ(rows.size(), 2);
    EXPECT_EQ(rows[0].name, "daily");
    EXPECT_EQ(base::time_text(rows[0].next_at), "2027-01-16T07:30:00.000Z");
}

TEST_P(SchedulerTest, a_clock_that_was_set_back_runs_no_tick_twice) {
    Server server{*store, clock};
    server.every("@hourly").run_once();
    clock.advance(1h);
    server.run_once();
    clock.advance(-45min);

    for (int i = 0; i < 60; ++i) {
        clock.advance(1min);
        server.run_once();
    }

    EXPECT_THAT(jobs(), ElementsAre(report("09:00")));
}

TEST_P(SchedulerTest, a_tick_that_a_wrong_clock_wrote_is_replaced) {
    Server server{*store, clock};
    server.every("@hourly").run_once();
    write_one(*store, set_next, clock.now() + 365 * 24h);

    server.run_once();

    EXPECT_EQ(row().next_at, clock.now() + 1h);
    EXPECT_THAT(jobs(), ElementsAre());
}

TEST_P(SchedulerTest, a_job_for_an_external_queue_is_staged_for_it) {
    Server server{*store, clock, {.staging = engine::Staging::to_be_pushed}};
    server.every("@hourly").run_once();
    clock.advance(1h);

    server.run_once();

    EXPECT_THAT(jobs(), ElementsAre());
    EXPECT_THAT(jobs(args_of_staged), ElementsAre(report("09:00")));
}

TEST_P(SchedulerTest, what_is_wrong_with_a_schedule_is_named) {
    Server server{*store, clock};
    const auto problem = [&](const std::string& cron, const PeriodicOptions& options = {}) {
        try {
            server.every(cron, options);
        } catch (const std::exception& error) {
            return std::string{error.what()};
        }
        return std::string{"nothing"};
    };

    EXPECT_THAT(
        problem("0 24 * * *"), HasSubstr("the periodic job 'report': the hour '24' is wrong")
    );
    EXPECT_THAT(
        problem("@daily", {.time_zone = "Europe/Berln"}), HasSubstr("'Europe/Berln' is unknown")
    );
    EXPECT_THAT(
        problem("@daily", {.name = std::string(101, 'x')}),
        HasSubstr("its name has 101 bytes: at most 100")
    );
    EXPECT_EQ(problem("@daily"), "nothing");
    EXPECT_THAT(problem("@hourly"), HasSubstr("two periodic jobs are named 'report'"));
}

}  // namespace pawl::conformance
