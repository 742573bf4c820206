#include "tests/engine/job_world.hpp"

// Handlers that are told to stop.
namespace pawl::testing {
namespace {

TEST_F(JobTest, a_handler_in_a_call_is_told_to_stop_after_its_time) {
    ops::Worker strict{*world.engine, queue, pauses, {.lease = 30ms, .timeout = 1ms}};
    strict.add(detail::erase_job(
        std::make_shared<NoteInCall>([](KeyedCall& call, const Job<Note>&) -> JobResult {
            std::promise<void> stopped;
            const std::stop_callback on_stop{call.stop(), [&] { stopped.set_value(); }};
            if (stopped.get_future().wait_for(20s) != std::future_status::ready)
                return discard("nobody told it");
            return retry_in(1s);
        })
    ));
    std::jthread upkeep{[&](const std::stop_token& stop) { strict.run_rescuer(stop); }};
    stage();

    EXPECT_EQ(strict.run_once(1).retried, 1);

    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);
}

TEST_F(JobTest, a_kind_of_job_has_its_own_time) {
    const NoteInAHurry hurried{[](KeyedCall& call) -> JobResult {
        std::promise<void> stopped;
        const std::stop_callback on_stop{call.stop(), [&] { stopped.set_value(); }};
        if (stopped.get_future().wait_for(20s) != std::future_status::ready)
            return discard("nobody told it");
        return retry_in(1s);
    }};
    ops::Worker patient{*world.engine, queue, pauses, {.lease = 10min, .timeout = 9min}};
    patient.add(detail::erase_job(std::make_shared<NoteInAHurry>(hurried)));
    std::jthread upkeep{[&](const std::stop_token& stop) { patient.run_rescuer(stop); }};
    stage();

    std::atomic<bool> worked{false};
    std::jthread time{[&] {
        while (!worked) {
            world.clock.advance(1ms);
            std::this_thread::yield();
        }
    }};
    const auto report = patient.run_once(1);
    worked = true;

    EXPECT_EQ(report.retried, 1) << "long before the next third of a lease";
}

TEST_F(JobTest, a_handler_whose_job_is_cancelled_is_told_to_stop) {
    std::promise<void> running;
    ops::Worker worker{*world.engine, queue, pauses, {.lease = 10min, .timeout = 9min}};
    worker.add(detail::erase_job(
        std::make_shared<NoteInCall>([&](KeyedCall& call, const Job<Note>&) -> JobResult {
            std::promise<void> stopped;
            const std::stop_callback on_stop{call.stop(), [&] { stopped.set_value(); }};
            running.set_value();
            if (stopped.get_future().wait_for(20s) != std::future_status::ready)
                return discard("nobody told it");
            return retry_in(1s);
        })
    ));
    std::jthread upkeep{[&](const std::stop_token& stop) { worker.run_rescuer(stop); }};
    stage();
    std::atomic<bool> worked{false};
    std::jthread person{[&] {
        running.get_future().wait();
        const std::vector<std::string> ids{"1"};
        EXPECT_EQ(queue::EmbeddedJobs{world.store}.cancel(ids, {"ann", "not today"}).running, 1);
        while (!worked) {
            world.clock.advance(1ms);
            std::this_thread::yield();
        }
    }};

    const auto report = worker.run_once(1);
    worked = true;

    EXPECT_EQ(report.lost, 1);
    EXPECT_EQ(world.count("pawl_dead_jobs"), 1);
    EXPECT_EQ(world.count("pawl_jobs"), 0);
}

}  // namespace
}  // namespace pawl::testing
