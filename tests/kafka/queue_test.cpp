#include "src/queue/kafka/queue_depth.hpp"
#include "src/queue/open.hpp"
#include "tests/kafka/world.hpp"

#include <mutex>

// A group member's own behaviour; tests/conformance has what is common to all queues.
namespace pawl::queue {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class KafkaQueueTest : public KafkaTest {};

}  // namespace

TEST_F(KafkaQueueTest, an_undone_job_comes_again_and_done_ones_after_it_do_not) {
    make_topics();
    push({"taken", "done", "reschedule", "buried", "untouched"});
    {
        const auto queue = open();
        const auto jobs = take(*queue, 4);
        ASSERT_THAT(jids(jobs), ElementsAre("taken", "done", "reschedule", "buried"));
        EXPECT_TRUE(queue->finish(jobs[1]));
        EXPECT_TRUE(queue->reschedule(jobs[2], 10s, "an error"));
        EXPECT_TRUE(queue->dead_letter(jobs[3], "for good"));
    }

    const auto heir = open();

    EXPECT_THAT(jids(take(*heir)), ElementsAre("taken", "untouched"));
    clock.advance(10s);
    EXPECT_THAT(jids(take(*heir)), ElementsAre("reschedule"));
    EXPECT_EQ(KafkaDeadLetters(options, store, clock).page({}, "", 10).size(), 1);
}

// Issue 18: the thread that reads waited for the controller, 10 of each 15 s.
TEST_F(KafkaQueueTest, jobs_are_read_while_no_controller_creates_a_missing_topic) {
    for (const auto& topic : kafka::worked_topics(options, "default"))
        cluster.tell("topic " + topic + " 1");  // Not that of dead letters.
    options.request_timeout = 10min;
    options.log = [](std::string_view) {};
    push({"a"});

    const auto queue = open();

    EXPECT_THAT(jids(take(*queue)), ElementsAre("a"));
}

TEST_F(KafkaQueueTest, a_job_finished_behind_a_held_back_offset_is_known_from_the_inbox) {
    make_topics();
    push({"a"});
    const auto queue = open();
    EXPECT_TRUE(queue->finish(take(*queue).at(0)));
    push({"a", "b"});  // The enqueuer died between its push and its delete.

    EXPECT_THAT(jids(take(*queue)), ElementsAre("b"));
    EXPECT_TRUE(queue->wait_read(20s));
}

// After a kill between a burial and its offset, or between a push and its delete: I18.
TEST_F(KafkaQueueTest, a_dead_letter_written_twice_by_a_crash_is_shown_once) {
    make_topics();
    push({"a", "a", "b"});
    const auto queue = open();
    for (const auto& job : take(*queue)) EXPECT_TRUE(queue->dead_letter(job, "for good"));
    ASSERT_EQ(records(kafka::dead_topic(options, "default")).size(), 3);
    KafkaDeadLetters letters{options, store, clock};
    const AuditEntry act{"ann", "fixed"};

    const auto shown = letters.page({}, "", 10);
    ASSERT_EQ(shown.size(), 2);
    EXPECT_EQ(letters.groups({}).at(0).count, 2);
    EXPECT_THAT(letters.counts(), ElementsAre(Pair("default", 2)));
    EXPECT_THAT(letters.counts(1), ElementsAre(Pair("default", 1)));
    EXPECT_EQ(letters.merge(std::vector{shown[0].id}, act, std::nullopt).done, 1);
    EXPECT_EQ(letters.purge(std::vector{shown[1].id}, act).done, 1);
    EXPECT_THAT(letters.page({}, "", 10), IsEmpty()) << "the second went with the first";
    EXPECT_THAT(letters.counts(), ElementsAre(Pair("default", 0)));
    // Retention deletes the first of them with its mark, and the second stays settled.
    const kafka::Partition dead{kafka::dead_topic(options, "default"), 0};
    EXPECT_EQ(kafka::settled(store, dead, 1).offsets.count(1), 1);

    const auto again = take(*queue);
    ASSERT_THAT(jids(again), ElementsAre("a"));
    EXPECT_TRUE(queue->dead_letter(again[0], "once more"));
    const auto dead_again = letters.page({}, "", 10);
    ASSERT_EQ(dead_again.size(), 1) << "a death after a merge is another";
    EXPECT_EQ(dead_again[0].error, "once more");
}

TEST_F(KafkaQueueTest, jobs_that_wait_are_counted_by_what_they_wait_for) {
    make_topics();
    const auto before = kafka::waiting(options, "default").at(0);
    EXPECT_EQ(before.ready + before.later, 0);
    push({"a", "b", "c"});
    {
        const auto queue = open();
        const auto jobs = take(*queue, 2);
        EXPECT_TRUE(queue->finish(jobs.at(0)));
        EXPECT_TRUE(queue->reschedule(jobs.at(1), 10s, "an error"));
    }

    const auto now = kafka::waiting(options, "default").at(0);

    EXPECT_EQ(now.queue, "default");
    EXPECT_EQ(now.ready, 1);
    EXPECT_EQ(now.later, 1);
}

TEST_F(KafkaQueueTest, jobs_in_topics_of_removed_layers_are_counted_and_missing_topics_are_not) {
    make_topics();
    push({"a"});
    {
        const auto queue = open();
        EXPECT_TRUE(queue->reschedule(take(*queue).at(0), 1h, "an error"));
    }
    const auto opened = open_queue(
        {.url = "kafka://" + options.brokers + "/" + options.prefix + "?group=" + options.group,
         .retry_layers = {10s}},
        store,
        clock,
        [](const base::Warning&) {}
    );

    const auto waiting = opened.waiting({"default", "mails"});

    ASSERT_EQ(waiting.size(), 2);
    EXPECT_EQ(waiting[0].queue, "default");
    EXPECT_EQ(waiting[0].later, 1);
    EXPECT_EQ(waiting[1].queue, "mails");
    EXPECT_EQ(waiting[1].ready + waiting[1].later, 0);
}

TEST_F(KafkaQueueTest, dead_letters_are_grouped_by_what_the_filter_admits) {
    make_topics();
    push({"a", "b"});
    const auto queue = open();
    const auto jobs = take(*queue);
    EXPECT_TRUE(queue->dead_letter(jobs.at(0), "no such user"));
    EXPECT_TRUE(queue->dead_letter(jobs.at(1), "no such mailbox"));
    KafkaDeadLetters letters{options, store, clock};

    const auto groups = letters.groups({.queue = "default", .error = "mailbox"});

    ASSERT_EQ(groups.size(), 1);
    EXPECT_EQ(groups[0].count, 1);
    EXPECT_THAT(letters.groups({.queue = "mails"}), IsEmpty());
    EXPECT_FALSE(letters.find("no id"));
}

TEST_F(KafkaQueueTest, a_repeatedly_failing_job_delays_no_other) {
    make_topics();
    push({"poison", "next", "last"});
    const auto queue = open();

    EXPECT_TRUE(queue->reschedule(take(*queue, 1).at(0), 1h, "poison"));

    EXPECT_THAT(jids(take(*queue)), ElementsAre("next", "last"));
}

TEST_F(KafkaQueueTest, jobs_of_a_layer_come_in_the_order_of_their_times_and_none_is_early) {
    make_topics();
    push({"30", "10", "20", "40"});
    const auto queue = open();
    for (const auto& job : take(*queue))
        EXPECT_TRUE(queue->reschedule(job, std::stoi(job.raw.jid) * 1s, std::nullopt));

    for (const auto* next : {"10", "20", "30", "40"}) {
        clock.advance(10s - 1ms);
        EXPECT_THAT(jids(take(*queue)), IsEmpty());
        clock.advance(1ms);
        EXPECT_THAT(jids(take(*queue)), ElementsAre(next));
    }
}

// Its topic was read again only when the layer was configured again.
TEST_F(KafkaQueueTest, a_removed_layer_strands_no_job) {
    make_topics();
    push({"jid"});
    auto queue = open();
    EXPECT_TRUE(queue->reschedule(take(*queue).at(0), 1h, "an error"));
    queue.reset();
    options.layers = {10s};

    queue = open();
    EXPECT_THAT(take(*queue), IsEmpty());
    clock.advance(1h);

    EXPECT_THAT(jids(take(*queue)), ElementsAre("jid"));
}

TEST_F(KafkaQueueTest, a_full_partition_is_paused_and_loses_nothing) {
    make_topics();
    options.hold_max = 3;
    options.claim_wait = 30s;  // It reads no further than it may, so do not wait for all of it.
    Jids all;
    for (int i = 100; i < 140; ++i) all.push_back(std::to_string(i));
    push(all);
    const auto queue = open();

    Jids worked;
    while (worked.size() < all.size()) {
        const auto jobs = queue->claim(1, 30s);
        if (jobs.empty()) break;
        worked.push_back(jobs[0].raw.jid);
        EXPECT_TRUE(queue->finish(jobs[0]));
    }

    EXPECT_EQ(worked, all);
}

TEST_F(KafkaQueueTest, after_a_rebalance_only_the_new_owner_can_finish_a_job) {
    make_topics(4);
    Jids all;
    for (int i = 0; i < 40; ++i) all.push_back("job" + std::to_string(i));
    push(all);
    const auto first = open();
    const auto taken = take(*first);
    ASSERT_EQ(taken.size(), all.size());

    options.claim_wait = 1s;
    const auto second = open();
    struct Token {
        KafkaQueue* holder{};
        ClaimedJob job;
        bool live() const { return holder->renew(job, 30s); }
    };
    std::vector<Token> tokens;
    const auto collect = [&](KafkaQueue& holder, const std::vector<ClaimedJob>& jobs) {
        for (const auto& job : jobs) tokens.push_back({&holder, job});
    };
    const auto live = [](const Token& token) { return token.live(); };
    collect(*first, taken);
    const auto has_moved = [&] {
        return std::ranges::any_of(tokens, [&](const Token& token) {
            return token.holder == second.get() && token.live();
        });
    };
    // A partition moves in two steps, away from one member, then to the other; on a busy machine
    // the group rebalances more than once.
    for (int i = 0; i < 60; ++i) {
        collect(*second, second->claim(100, 30s));
        collect(*first, first->claim(100, 30s));
        const auto held = static_cast<std::size_t>(std::ranges::count_if(tokens, live));
        if (held == all.size() && has_moved()) break;
    }
    ASSERT_TRUE(has_moved());

    Jids done;
    for (auto& [holder, job] : tokens) {
        if (holder->renew(job, 30s)) {
            EXPECT_TRUE(holder->finish(job));
            done.push_back(job.raw.jid);
            continue;
        }
        EXPECT_FALSE(holder->mark_called(job));
        EXPECT_FALSE(holder->reschedule(job, 0s, "late"));
        EXPECT_FALSE(holder->dead_letter(job, "late"));
        // Issue 16, number 22: a job that another member had buried could be done in a transaction,
        // too.
        KafkaQueue& loser = *holder;
        const ClaimedJob& lost = job;
        conformance::write_now(store, [&](store::Session& session) {
            EXPECT_EQ(loser.finish_in_transaction(session, lost), FinishResult::lost);
        });
        EXPECT_FALSE(holder->finish(job));
    }
    std::ranges::sort(done);
    std::ranges::sort(all);
    EXPECT_EQ(done, all);
    EXPECT_THAT(KafkaDeadLetters(options, store, clock).page({}, "", 10), IsEmpty());
}

TEST_F(KafkaQueueTest, records_of_other_programs_are_claimed_with_the_headers_they_have) {
    make_topics();
    produce("not json");
    produce(std::nullopt);
    produce(R"({"order":7})", {{"ce_id", "order-7"}, {"ce_type", "com.example.order"}});
    const auto queue = open();

    const auto jobs = take(*queue);

    ASSERT_EQ(jobs.size(), 3);
    EXPECT_EQ(jobs[0].kind, "");
    EXPECT_EQ(jobs[0].raw.args, "not json");
    EXPECT_EQ(jobs[0].raw.jid.size(), 24);
    EXPECT_THAT(jobs[0].raw.origin, HasSubstr("[0]@0"));
    EXPECT_EQ(jobs[1].raw.args, "");
    EXPECT_NE(jobs[1].raw.jid, jobs[0].raw.jid);
    EXPECT_EQ(jobs[2].raw.jid, "order-7");
    EXPECT_EQ(jobs[2].kind, "com.example.order");
    for (const auto& job : jobs) EXPECT_TRUE(queue->dead_letter(job, "no handler is for it"));
    EXPECT_EQ(KafkaDeadLetters(options, store, clock).page({}, "", 10).size(), 3);
}

TEST_F(KafkaQueueTest, the_headers_of_a_retry_reach_the_broker_byte_for_byte) {
    make_topics();
    push({"jid"});
    const auto queue = open();
    EXPECT_TRUE(queue->reschedule(take(*queue).at(0), 10s, "no answer"));

    const auto retried = records(kafka::retry_topic(options, "default", 10s));

    ASSERT_EQ(retried.size(), 1);
    const auto& headers = retried[0].headers;
    EXPECT_EQ(retried[0].key, "jid");
    EXPECT_EQ(kafka::find(headers, "retry_topic-attempts"), kafka::int32_bytes(2));
    const auto due = (clock.now() + 10s).time_since_epoch().count();
    EXPECT_EQ(kafka::find(headers, "retry_topic-backoff-timestamp"), kafka::big_integer_bytes(due));
    EXPECT_EQ(kafka::find(headers, "kafka_original-topic"), kafka::main_topic(options, "default"));
    EXPECT_EQ(kafka::find(headers, "kafka_original-partition"), kafka::int32_bytes(0));
    EXPECT_EQ(kafka::find(headers, "kafka_original-offset"), kafka::int64_bytes(0));
    EXPECT_EQ(kafka::find(headers, "kafka_exception-message"), "no answer");
}

// Each client warned of the settings that are for the other one.
TEST_F(KafkaQueueTest, settings_of_consumers_and_producers_may_be_given_together) {
    make_topics();
    std::mutex mutex;
    std::vector<std::string> logged;
    options.log = [&](std::string_view text) {
        const std::lock_guard lock{mutex};
        logged.emplace_back(text);
    };
    options.settings = {{"max.poll.interval.ms", "600000"}, {"linger.ms", "1"}};
    push({"a"});

    EXPECT_THAT(jids(take(*open())), ElementsAre("a"));

    const std::lock_guard lock{mutex};
    EXPECT_THAT(logged, IsEmpty());
}

TEST_F(KafkaQueueTest, a_queue_that_no_topic_can_be_named_for_is_refused) {
    EXPECT_THROW(KafkaQueue(options, "a b", store, clock), std::invalid_argument);
    options.settings = {{"no.such.setting", "1"}};
    EXPECT_THROW(KafkaQueue(options, "default", store, clock), std::invalid_argument);
}

}  // namespace pawl::queue
