#include "src/base/testing/still_clock.hpp"
#include "tests/engine/job_world.hpp"

// Jobs whose servers died while they had them (docs/adr/0044).
namespace pawl::testing {
namespace {

class JobDeathsTest : public JobTest {
protected:
    template <class H>
    void handle(H handler) {
        const auto form = detail::erase_job(std::make_shared<H>(std::move(handler)));
        first.add(form);
        other.add(form);
    }
    void advance(std::chrono::milliseconds by) {
        world.clock.advance(by);
        age.at += by;
    }
    // A job that was claimed by servers that died.
    void stage_after(int deaths, std::optional<int> before_alone = std::nullopt) {
        stage();
        world.execute("UPDATE pawl_jobs SET deaths = " + std::to_string(deaths));
        if (before_alone)
            world.execute(
                "UPDATE pawl_jobs SET deaths_before_alone = " + std::to_string(*before_alone)
            );
    }
    std::int64_t noted() { return world.number("SELECT count(*) FROM notes"); }

    base::StillClock age;
    ops::LoneRuns runs{age};
    ops::Worker first{*world.engine, queue, pauses, options, &runs};
    ops::Worker other{*world.engine, queue, pauses, options, &runs};
};

TEST_F(JobDeathsTest, after_two_deaths_a_job_runs_as_any_other) {
    handle(NoteInTx{});
    stage_after(2);

    EXPECT_EQ(first.run_once(10).done, 1);
}

TEST_F(JobDeathsTest, after_three_a_young_server_puts_the_job_back_until_it_is_ten_seconds_old) {
    handle(NoteInTx{});
    stage_after(3);
    advance(4s);

    EXPECT_EQ(first.run_once(10).retried, 1);
    advance(6s - 1ms);
    EXPECT_EQ(first.run_once(10).worked(), 0);
    advance(1ms);
    EXPECT_EQ(first.run_once(10).done, 1);

    EXPECT_EQ(noted(), 1);
}

TEST_F(JobDeathsTest, a_job_that_runs_alone_lets_no_other_job_of_its_process_begin) {
    int beside = -1;
    std::int64_t before_alone = -1;
    first.add(detail::erase_job(
        std::make_shared<NoteInCall>([&](KeyedCall&, const Job<Note>&) -> JobResult {
            before_alone = world.number("SELECT deaths_before_alone FROM pawl_jobs");
            stage("another");
            beside = other.run_once(10).worked();
            return done;
        })
    ));
    other.add(detail::erase_job(std::make_shared<NoteInTx>()));
    stage_after(3);
    advance(10s);

    EXPECT_EQ(first.run_once(1).done, 1);

    EXPECT_EQ(beside, 0);
    EXPECT_EQ(before_alone, 3);
    EXPECT_EQ(other.run_once(10).done, 1);
}

TEST_F(JobDeathsTest, a_job_that_failed_alone_is_a_suspect_and_not_dead) {
    handle(NoteInTx{[](Tx&, const Job<Note>&) { throw std::runtime_error{"no"}; }});
    stage_after(3);
    advance(10s);

    EXPECT_EQ(first.run_once(10).retried, 1);

    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_jobs WHERE deaths_before_alone IS NULL"), 1);
    EXPECT_EQ(world.number("SELECT deaths FROM pawl_jobs"), 3);
}

TEST_F(JobDeathsTest, a_job_whose_server_died_while_it_ran_alone_is_dead_and_says_so) {
    handle(NoteInTx{});
    stage_after(4, 3);

    EXPECT_EQ(first.run_once(10).dead_lettered, 1);

    EXPECT_EQ(noted(), 0);
    EXPECT_EQ(
        world.number(
            "SELECT count(*) FROM pawl_dead_jobs WHERE last_error = 'servers died 4 times while "
            "they had it, the last one while it ran alone'"
        ),
        1
    );
}

// Killed each second, a server never gets to run it alone.
TEST_F(JobDeathsTest, a_job_that_only_waited_to_run_alone_is_not_dead) {
    handle(NoteInTx{});
    stage_after(30);
    EXPECT_EQ(first.run_once(10).retried, 1);
    advance(10s);

    EXPECT_EQ(first.run_once(10).done, 1);
}

TEST_F(JobDeathsTest, healthy_jobs_beside_a_suspect_run_first_or_after_it) {
    handle(NoteInTx{});
    stage("suspect");
    world.execute("UPDATE pawl_jobs SET deaths = 3");
    for (const auto* text : {"a", "b", "c"}) stage(text);
    advance(10s);

    EXPECT_EQ(first.run_once(10).done, 4);
}

}  // namespace
}  // namespace pawl::testing
