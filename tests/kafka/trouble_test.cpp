#include "src/core/fault.hpp"
#include "tests/kafka/world.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

// Brokers that go away and come back, refused records, and interrupted work. Needs the mock.
namespace pawl::queue {

namespace {

using conformance::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* produce_api = "0";
constexpr const char* offset_commit_api = "8";
constexpr const char* find_coordinator_api = "10";
constexpr const char* heartbeat_api = "12";
constexpr const char* sync_group_api = "14";

class KafkaTroubleTest : public KafkaTest {
protected:
    void SetUp() override {
        if (!cluster.is_mock()) GTEST_SKIP() << "real brokers are not told to fail";
        options.request_timeout = 2s;
    }
    static void throw_at(const char* name) {
        core::on_fault_point([name](std::string_view reached) {
            if (reached == name) throw std::runtime_error{"a planted fault"};
        });
    }
    // The error that it throws, as soon as it throws.
    static std::string error_of_take(KafkaQueue& queue) {
        return error_of([&] {
                   const auto end = std::chrono::steady_clock::now() + 30s;
                   while (std::chrono::steady_clock::now() < end) queue.claim(1, 30s);
               }
        ).what();
    }
    ~KafkaTroubleTest() override { core::on_fault_point({}); }
};

}  // namespace

TEST_F(KafkaTroubleTest, brokers_that_come_back_find_everything_as_it_was) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    options.session_timeout = 1min;  // Longer than the outage.
    own.make_topics(options, "default", 2);
    push({"before"});
    const auto queue = open();
    const auto job = take(*queue).at(0);
    own.all_down();

    const auto of_push = error_of([&] { push({"lost?"}); });
    EXPECT_EQ(of_push.kind(), StoreError::Kind::unavailable);
    EXPECT_THAT(of_push.what(), HasSubstr("PAWL0020"));
    EXPECT_THAT(of_push.what(), HasSubstr(own.brokers()));
    EXPECT_THROW(queue->reschedule(job, 0s, "an error"), StoreError);
    EXPECT_TRUE(queue->renew(job, 30s)) << "it is still ours";
    EXPECT_THAT(error_of_take(*queue), HasSubstr("PAWL0020"));
    own.all_up();

    EXPECT_TRUE(queue->reschedule(job, 0s, "an error"));
    EXPECT_EQ(push({"after"}).sent.size(), 1);
    const auto jobs = jids(take(*queue));
    EXPECT_THAT(jobs, ::testing::Contains("before"));
    EXPECT_THAT(jobs, ::testing::Contains("after"));
}

// Once the refusal was dropped when the brokers answered another request, and the queue looked
// idle.
TEST_F(KafkaTroubleTest, a_refusal_of_the_group_is_reported_until_it_ends) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    own.make_topics(options, "default", 2);
    push({"jid"});
    own.tell(std::string{"error "} + find_coordinator_api + " 30 1000");  // GROUP_AUTHORIZATION_...
    const auto queue = open();

    const auto why = error_of_take(*queue);
    EXPECT_THAT(why, HasSubstr("PAWL0020"));
    EXPECT_THAT(why, HasSubstr("Group authorization failed"));
    EXPECT_THROW(queue->claim(1, 30s), StoreError) << "not once alone";
    own.tell(std::string{"clear "} + find_coordinator_api);

    EXPECT_THAT(jids(take(*queue)), ElementsAre("jid"));
}

// librdkafka 2.0 aborted a process that stopped soon after its start (its issue 4312).
TEST_F(KafkaTroubleTest, a_member_may_end_after_it_joined_and_before_it_is_assigned_anything) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    own.make_topics(options, "default", 1);
    own.tell(std::string{"error "} + sync_group_api + " 27 1000");  // REBALANCE_IN_PROGRESS.
    auto queue = open();
    std::this_thread::sleep_for(4s);  // A new group of the mock waits 3 s for more members.

    const std::jthread end{[&] { queue.reset(); }};
    std::this_thread::sleep_for(200ms);
    own.tell(std::string{"clear "} + sync_group_api);
}

// librdkafka 2.0 aborted: rd_kafka_cgrp_destroy_final: assert: !rkcg->rkcg_subscription.
TEST_F(KafkaTroubleTest, a_member_may_end_while_it_is_about_to_read_a_new_topic) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    options.session_timeout = 3s;  // A rebalance of the mock takes one second less.
    for (const auto& topic : kafka::worked_topics(options, "default"))
        own.tell("topic " + topic + " 1");  // Not that of dead letters.
    options.request_timeout = 4s;           // Then it looks for that topic again.
    std::atomic<bool> found{false};
    options.log = [&](std::string_view line) {
        if (line.ends_with("is read until it is empty")) found = true;
    };
    auto queue = open();
    ASSERT_TRUE(queue->wait_read(30s));  // A new group of the mock waits 3 s for more members.

    own.tell(std::string{"error "} + heartbeat_api + " 27 1000");  // REBALANCE_IN_PROGRESS.
    own.tell("topic " + kafka::retry_topic(options, "default", 77ms) + " 1");
    for (int i = 0; i < 300 && !found; ++i) std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(found);
    queue.reset();
}

// Issue 16, number 22. A failed commit counted as done and was not repeated: the partition's next
// owner worked jobs that were also in their retry topic.
TEST_F(KafkaTroubleTest, an_offset_commit_that_fails_is_tried_until_it_succeeds) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    own.make_topics(options, "default", 1);
    push({"reschedule", "buried"});
    {
        const auto queue = open();
        const auto jobs = take(*queue, 2);
        ASSERT_EQ(jobs.size(), 2);
        own.tell(std::string{"error "} + offset_commit_api + " 30 1000");  // GROUP_AUTHORIZATION...
        EXPECT_TRUE(queue->reschedule(jobs[0], 10s, "an error"));
        EXPECT_TRUE(queue->dead_letter(jobs[1], "for good"));

        EXPECT_FALSE(queue->wait_committed(1s)) << "no broker has taken it";
        own.tell(std::string{"clear "} + offset_commit_api);

        EXPECT_TRUE(queue->wait_committed(30s));
    }

    const auto heir = open();
    EXPECT_THAT(take(*heir), IsEmpty()) << "nothing is due, and nothing comes again";
    clock.advance(10s);
    EXPECT_THAT(jids(take(*heir)), ElementsAre("reschedule"));
}

TEST_F(KafkaTroubleTest, after_an_outage_longer_than_the_session_a_job_comes_again) {
    testing::KafkaCluster own;
    options.brokers = own.brokers();
    own.make_topics(options, "default", 2);
    push({"jid"});
    const auto queue = open();
    const auto old = take(*queue).at(0);
    own.all_down();
    for (int i = 0; i < 60 && queue->renew(old, 30s); ++i)
        EXPECT_THROW(push({"none"}), StoreError);  // Two seconds each.
    EXPECT_FALSE(queue->renew(old, 30s));
    own.all_up();

    const auto jobs = take(*queue);

    EXPECT_THAT(jids(jobs), ElementsAre("jid"));
    EXPECT_FALSE(queue->finish(old));
    EXPECT_TRUE(queue->finish(jobs.at(0)));
}

TEST_F(KafkaTroubleTest, a_job_that_is_too_large_is_refused_and_the_others_are_sent) {
    make_topics();
    std::vector<StagedJob> jobs{staged("small"), staged("large"), staged("other")};
    jobs[1].args = '"' + std::string(1'000'000, 'x') + '"';

    const auto report = KafkaPusher{options, clock}.push(jobs);

    EXPECT_THAT(report.sent, ElementsAre(jobs[0].id, jobs[2].id));
    ASSERT_EQ(report.refused.size(), 1);
    EXPECT_EQ(report.refused[0].id, jobs[1].id);
    EXPECT_THAT(report.refused[0].why, HasSubstr("900000"));
}

TEST_F(KafkaTroubleTest, a_queue_that_no_topic_can_be_named_for_gets_nothing) {
    auto job = staged("jid");
    job.queue = "a b";

    const auto report = KafkaPusher{options, clock}.push(std::span{&job, 1});

    EXPECT_THAT(report.sent, IsEmpty());
    EXPECT_EQ(report.refused.size(), 1);
}

TEST_F(KafkaTroubleTest, a_retry_that_is_too_large_is_sent_with_fewer_headers) {
    make_topics();
    push({"jid"});
    const auto queue = open();
    const auto job = take(*queue).at(0);
    cluster.tell(std::string{"error "} + produce_api + " 10 1");  // MSG_SIZE_TOO_LARGE.

    EXPECT_TRUE(queue->reschedule(job, 0s, std::string(2'000, 'e')));

    const auto again = take(*queue).at(0);
    EXPECT_EQ(again.failures, 1);
    EXPECT_EQ(again.raw.last_error->size(), 100);
}

TEST_F(KafkaTroubleTest, a_push_without_an_answer_throws_and_the_next_one_arrives) {
    make_topics();
    cluster.tell(std::string{"error "} + produce_api + " 7 1000");  // REQUEST_TIMED_OUT.

    const auto failed = error_of([&] { push({"jid"}); });
    EXPECT_EQ(failed.kind(), StoreError::Kind::unavailable);
    EXPECT_FALSE(failed.safe_to_repeat()) << "it may be there";
    cluster.tell(std::string{"clear "} + produce_api);

    EXPECT_EQ(push({"jid"}).sent.size(), 1);
    const auto queue = open();
    const auto jobs = take(*queue);
    ASSERT_FALSE(jobs.empty());
    for (const auto& job : jobs) EXPECT_EQ(job.raw.jid, "jid");
}

TEST_F(KafkaTroubleTest, a_merge_cut_off_after_its_records_is_repeated_and_the_job_runs_once) {
    make_topics();
    push({"jid"});
    const auto queue = open();
    EXPECT_TRUE(queue->dead_letter(take(*queue).at(0), "for good"));
    KafkaDeadLetters letters{options, store, clock};
    const AuditEntry act{"ann", "it works again"};
    const auto id = letters.page({}, "", 1).at(0).id;
    throw_at("kafka.merge.sent");
    EXPECT_ANY_THROW(letters.merge(std::span{&id, 1}, act, clock.now()));
    core::on_fault_point({});

    EXPECT_EQ(letters.page({}, "", 10).size(), 1) << "it is shown until all of it is done";
    EXPECT_EQ(letters.merge(std::span{&id, 1}, act, clock.now()).done, 1);

    EXPECT_THAT(letters.page({}, "", 10), IsEmpty());
    const auto jobs = take(*queue);
    EXPECT_THAT(jids(jobs), ElementsAre("jid", "jid"));
    conformance::write_now(store, [&](store::Session& session) {
        EXPECT_EQ(queue->finish_in_transaction(session, jobs.at(0)), FinishResult::done);
        return 0;
    });
    conformance::write_now(store, [&](store::Session& session) {
        EXPECT_EQ(queue->finish_in_transaction(session, jobs.at(1)), FinishResult::done_before);
        return 0;
    });
}

TEST_F(KafkaTroubleTest, a_merge_cut_off_before_its_records_sends_nothing) {
    make_topics();
    push({"jid"});
    const auto queue = open();
    EXPECT_TRUE(queue->dead_letter(take(*queue).at(0), "for good"));
    KafkaDeadLetters letters{options, store, clock};
    const auto id = letters.page({}, "", 1).at(0).id;
    throw_at("kafka.merge.before");

    EXPECT_ANY_THROW(letters.merge(std::span{&id, 1}, {"ann", "why"}, clock.now()));
    core::on_fault_point({});

    EXPECT_EQ(letters.page({}, "", 10).size(), 1);
    EXPECT_THAT(take(*queue), IsEmpty());
}

}  // namespace pawl::queue
