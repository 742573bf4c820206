#include <pawl/service.hpp>

#include "src/ops/completer.hpp"
#include "src/ops/enqueuer.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/worker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace pawl::ops {
namespace {

template <class Options>
std::string problem(const Options& options) {
    return options.problem().value_or("none");
}

TEST(ServiceOptions, name_the_option_that_is_out_of_range) {
    EXPECT_EQ(problem(ServiceOptions{}), "none");
    EXPECT_EQ(problem(ServiceOptions{.lease = 99ms}), "lease is 99 ms: 100 ms to 1 h");
    EXPECT_EQ(problem(ServiceOptions{.lease = 2h}), "lease is 7200000 ms: 100 ms to 1 h");
    EXPECT_EQ(
        problem(ServiceOptions{.phase_deadline = 9ms}), "phase_deadline is 9 ms: at least 10 ms"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.lease = 9s, .phase_deadline = 4s}),
        "phase_deadline is 4000 ms: at most a third of the lease, 3000 ms"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.keep_keys = 0h}),
        "keep_keys is 0 h: at least 1 h, or clients still retry"
    );
    // Beyond the year 9999 an answer had expired at once.
    EXPECT_EQ(
        problem(ServiceOptions{.keep_keys = 876'001h}),
        "keep_keys is 876001 h: at most 876000 h, a hundred years"
    );
    EXPECT_EQ(problem(ServiceOptions{.calls_max = 0}), "calls_max is 0: 1 to 10000");
    EXPECT_EQ(problem(ServiceOptions{.calls_max = 10'001}), "calls_max is 10001: 1 to 10000");
    EXPECT_EQ(
        problem(ServiceOptions{.retry_layers = {1s, -1ms}}),
        "retry_layers has -1 ms: no wait is negative, or above a hundred years"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.queue = "rabbit://here"}),
        "queue is rabbit://here: embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]"
    );
}

TEST(ServiceOptions, name_a_time_that_is_out_of_range) {
    EXPECT_EQ(
        problem(ServiceOptions{.call_timeout = 2h}), "call_timeout is 7200000 ms: 1 ms to 1 h"
    );
    EXPECT_EQ(problem(ServiceOptions{.call_timeout = 0ms}), "call_timeout is 0 ms: 1 ms to 1 h");
    EXPECT_EQ(problem(ServiceOptions{.drain = -1ms}), "drain is -1 ms: 0 to 2 h");
    EXPECT_EQ(problem(ServiceOptions{.drain = 3h}), "drain is 10800000 ms: 0 to 2 h");
    EXPECT_EQ(problem(ServiceOptions{.drain = 2h}), "none");
    EXPECT_EQ(
        problem(ServiceOptions{.repeats_for = -1h}),
        "repeats_for is -1 h: 0 to 876000 h, a hundred years"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.repeats_for = 876'001h}),
        "repeats_for is 876001 h: 0 to 876000 h, a hundred years"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.retry_layers = {876'001h}}),
        "retry_layers has 3153603600000 ms: no wait is negative, or above a hundred years"
    );
    EXPECT_NE(problem(ServiceOptions{.settle_after = -1ms}), "none");
    EXPECT_NE(problem(ServiceOptions{.settle_after = 2h}), "none");
}

TEST(ServiceOptions, name_what_is_wrong_with_the_workers_of_a_queue) {
    EXPECT_EQ(
        problem(ServiceOptions{.retry_layers = {1s, 2s}, .retry_workers = {1}}),
        "retry_workers has 1 numbers: one for each of the 2 retry_layers"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.retry_layers = {1s}, .retry_workers = {0}}),
        "retry_workers has 0: 1 to 1000"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.retry_layers = std::vector(21, 1000ms)}),
        "retry_layers has 21 waits: at most 20"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.queues = {{.name = "mails", .workers = 1'001}}}),
        "queues \"mails\": workers is 1001: 0 to 1000"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.queues = {{.name = "my mails"}}}),
        "queues \"my mails\": the name of a queue is \"my mails\": 1 to 64 of a-z, 0-9, _, - and ."
    );
    EXPECT_EQ(
        problem(ServiceOptions{.queues = {{.name = "mails"}, {.name = "mails"}}}),
        "queues names \"mails\" twice"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.queues = {{.name = "default"}}}),
        "queues names \"default\": its settings are workers, retry_layers and retry_workers; for "
        "limits, give the jobs a queue of their own"
    );
}

TEST(ServiceOptions, name_a_limit_of_a_queue_that_is_out_of_range) {
    const auto of = [](QueueOptions options) {
        options.name = "mails";
        return problem(ServiceOptions{.queues = {options}});
    };
    EXPECT_EQ(of({.running_max = -1}), "queues \"mails\": running_max is -1: 0 to 100000");
    EXPECT_EQ(
        of({.partition_max = 100'001}), "queues \"mails\": partition_max is 100001: 0 to 100000"
    );
    EXPECT_EQ(
        of({.rate = {.per_second = -1}}),
        "queues \"mails\": rate.per_second is -1.000000: 0 for no rate, or 0.0001 to 100000"
    );
    EXPECT_EQ(
        of({.rate = {.per_second = std::nan("")}}),
        "queues \"mails\": rate.per_second is nan: 0 for no rate, or 0.0001 to 100000"
    );
    EXPECT_EQ(
        of({.rate = {.per_second = 1, .burst = 0}}),
        "queues \"mails\": rate.burst is 0: 1 to 100000"
    );
    EXPECT_EQ(
        of({.running_max = 5, .partition_max = 1, .rate = {.per_second = 0.5, .burst = 3}}), "none"
    );
}

TEST(ServiceOptions, limits_of_a_queue_that_it_can_not_keep_are_refused) {
    EXPECT_EQ(
        problem(ServiceOptions{
            .queues = {{.name = "mails", .partition_max = 5}}, .queue = "redis://127.0.0.1"}),
        "the queue \"mails\" has partition_max: only the embedded queue knows partitions"
    );
    EXPECT_EQ(
        problem(ServiceOptions{
            .queues = {{.name = "mails", .running_max = 5}}, .queue = "redis://127.0.0.1"}),
        "none"
    );
    EXPECT_EQ(
        problem(ServiceOptions{
            .queues = {{.name = "mails", .running_max = 5}}, .queue = "kafka://127.0.0.1"}),
        "the queue \"mails\" has running_max, partition_max or a rate: Kafka has none over all "
        "servers"
    );
}

TEST(ServiceOptions, the_workers_of_layers_are_as_said_or_half_as_many_as_of_first_tries) {
    const QueueOptions said{.retry_layers = {1s, 2s}, .retry_workers = {7, 1}};
    const QueueOptions not_said{.workers = 8, .retry_layers = {1s, 2s}};
    EXPECT_EQ(said.layer_workers(), (std::vector{7, 1}));
    EXPECT_EQ(not_said.layer_workers(), (std::vector{2, 2}));
}

TEST(ServiceOptions, name_an_inner_services_option_that_is_out_of_range) {
    EXPECT_EQ(problem(ServiceOptions{.workers = -1}), "workers is -1: 0 to 1000");
    EXPECT_EQ(
        problem(ServiceOptions{.keep_expired = 23h}),
        "reaper.keep_expired is 23 h: at least 24 h, clients still retry"
    );
    EXPECT_EQ(
        problem(ServiceOptions{.keep_expired = 876'001h}),
        "reaper.keep_expired is 876001 h: at most 876000 h, a hundred years"
    );
    EXPECT_EQ(problem(ServiceOptions{.complete_after = -1ms}), "completer.grace is negative");
    EXPECT_THROW((Service{*Database::open("memory:"), {.calls_max = 0}}), std::invalid_argument);
}

TEST(WorkerOptions, name_the_option_that_is_out_of_range) {
    EXPECT_EQ(problem(WorkerOptions{}), "none");
    EXPECT_EQ(problem(WorkerOptions{.threads = 1'001}), "workers is 1001: 0 to 1000");
    EXPECT_EQ(problem(WorkerOptions{.claim_max = 0}), "claim_max is 0: 1 to 10000");
    EXPECT_EQ(problem(WorkerOptions{.claim_max = 10'001}), "claim_max is 10001: 1 to 10000");
    EXPECT_EQ(
        problem(WorkerOptions{.lease = 5s, .timeout = 5s}),
        "job_timeout is 5000 ms: less than job_lease, 5000 ms"
    );
}

TEST(EnqueuerOptions, name_the_option_that_is_out_of_range) {
    EXPECT_EQ(problem(EnqueuerOptions{}), "none");
    EXPECT_EQ(problem(EnqueuerOptions{.batch_max = 0}), "enqueuer.batch_max is 0: 1 to 10000");
    EXPECT_EQ(
        problem(EnqueuerOptions{.batch_max = 10'001}), "enqueuer.batch_max is 10001: 1 to 10000"
    );
    EXPECT_EQ(problem(EnqueuerOptions{.claim = 999ms}), "enqueuer.claim is 999 ms: at least 1 s");
}

TEST(CompleterOptions, name_the_option_that_is_out_of_range) {
    EXPECT_EQ(problem(CompleterOptions{}), "none");
    EXPECT_EQ(problem(CompleterOptions{.every = 9ms}), "completer.every is 9 ms: at least 10 ms");
    EXPECT_EQ(problem(CompleterOptions{.batch_max = 0}), "completer.batch_max is 0: 1 to 10000");
    EXPECT_EQ(
        problem(CompleterOptions{.batch_max = 10'001}), "completer.batch_max is 10001: 1 to 10000"
    );
}

TEST(ReaperOptions, name_the_option_that_is_out_of_range) {
    EXPECT_EQ(problem(ReaperOptions{}), "none");
    EXPECT_EQ(problem(ReaperOptions{.every = 9ms}), "reaper.every is 9 ms: at least 10 ms");
    EXPECT_EQ(problem(ReaperOptions{.batch_max = 0}), "reaper.batch_max is 0: 1 to 10000");
    EXPECT_EQ(problem(ReaperOptions{.batch_max = 10'001}), "reaper.batch_max is 10001: 1 to 10000");
}

}  // namespace
}  // namespace pawl::ops
