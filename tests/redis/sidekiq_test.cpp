#include "src/queue/redis/redis_queue.hpp"
#include "src/store/memory/memory_store.hpp"
#include "tests/conformance/store_world.hpp"
#include "tests/redis/redis_world.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// With Debian's Sidekiq: Ruby runs our jobs and we run Ruby's.
namespace pawl::testing {
namespace {

using conformance::Folder;
using conformance::HandClock;
using queue::RedisDeadLetters;
using queue::RedisQueue;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

class SidekiqTest : public ::testing::Test {
protected:
    SidekiqTest() {
        store::apply_migrations(store, "pawl", sql::migrations::all);
        far_ahead.advance(24h * 3'650);  // So that everything that Ruby delays is due.
    }
    ~SidekiqTest() override {
        if (sidekiq > 0) {
            ::kill(sidekiq, SIGKILL);
            ::waitpid(sidekiq, nullptr, 0);
        }
        if (HasFailure()) std::fputs(text_of("log").c_str(), stderr);
    }

    pid_t run(std::vector<std::string> words) {
        const auto url = server.url();
        const auto log = folder.file("log");
        const auto child = ::fork();
        if (child != 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::setenv("REDIS_URL", url.c_str(), 1);
        const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    void start_sidekiq() {
        sidekiq = run({"sidekiq", "-r", PAWL_SIDEKIQ_JOBS, "-c", "1", "-t", "1"});
    }
    // Runs a line of Ruby; its output is in the log.
    std::string ruby(const std::string& line) {
        int status = -1;
        ::waitpid(run({"ruby", "-r", PAWL_SIDEKIQ_JOBS, "-e", line}), &status, 0);
        EXPECT_EQ(status, 0) << line;
        return text_of("log");
    }
    std::string text_of(const std::string& file) const {
        std::ifstream in{folder.file(file)};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    // Waits for the next word that Ruby pushes.
    std::string word(const std::string& list) {
        const auto reply = server.ask({"BLPOP", list, "45"});
        return reply.items.size() == 2 ? reply.items[1].text : "nothing in 45 s";
    }

    Folder folder;
    RedisServer& server = empty_redis();
    HandClock far_ahead;
    memory::MemoryStore store{far_ahead};
    Client client{server.options()};
    Client later{server.options(), &far_ahead};
    RedisQueue queue{client};
    RedisQueue queue_later{later};
    RedisDeadLetters letters{client, store};
    const queue::AuditEntry act{"ann", "the mail server is back"};
    pid_t sidekiq{-1};
};

TEST_F(SidekiqTest, ruby_runs_what_we_push_in_the_times_of_either_version) {
    auto job = staged(long_id(1), R"({"ride":7,"id":9223372036854775807,"rate":0.1,"to":"ü"})");
    job.kind = "Receipt";
    push(client, job);
    auto options = server.options();
    options.times = redis::SidekiqTimes::milliseconds;
    Client of_version_8{options};
    job.jid = long_id(2);
    push(of_version_8, job);

    start_sidekiq();

    for (int i = 1; i <= 2; ++i)
        EXPECT_EQ(
            word("effects"),
            "[\"" + long_id(i) + R"(",{"ride":7,"id":9223372036854775807,"rate":0.1,"to":"ü"}])"
        );
    EXPECT_FALSE(queue.next_due());
}

TEST_F(SidekiqTest, we_run_what_ruby_pushes) {
    ruby("Receipt.perform_async({ride: 7, id: 2**64, rate: 0.1}); Receipt.perform_async(1, 'b')");

    const auto jobs = queue.claim(10, 30s);

    ASSERT_EQ(jobs.size(), 2);
    EXPECT_EQ(jobs[0].kind, "Receipt");
    EXPECT_EQ(jobs[0].raw.jid.size(), 24);
    EXPECT_EQ(jobs[0].raw.args, R"({"ride":7,"id":18446744073709551616,"rate":0.1})");
    EXPECT_EQ(jobs[1].raw.args, R"([1,"b"])");
    EXPECT_EQ(jobs[0].failures, 0);
    EXPECT_LE(std::chrono::abs(jobs[0].raw.created_at - client.now()), 60s);
    for (const auto& job : jobs) EXPECT_TRUE(queue.finish(job));
}

TEST_F(SidekiqTest, we_run_jobs_that_ruby_delays_when_they_are_due) {
    ruby("Receipt.perform_in(3600, {ride: 7})");
    EXPECT_TRUE(queue.claim(10, 30s).empty());
    EXPECT_GE(*queue.next_due(), client.now() + 59min);
    EXPECT_LE(*queue.next_due(), client.now() + 60min);

    const auto jobs = queue_later.claim(10, 30s);

    ASSERT_EQ(jobs.size(), 1);
    EXPECT_EQ(jobs[0].raw.args, R"({"ride":7})");
}

TEST_F(SidekiqTest, ruby_retries_a_job_that_failed_here) {
    ruby("Receipt.perform_async({ride: 7})");
    const auto job = queue.claim(1, 30s).at(0);
    EXPECT_TRUE(queue.reschedule(job, 0s, "SMTP 550"));
    EXPECT_THAT(
        ruby("r = Sidekiq::RetrySet.new.first; puts [r.klass, r['error_message'], "
             "r['retry_count']].inspect"),
        HasSubstr(R"(["Receipt", "SMTP 550", 0])")
    );

    start_sidekiq();

    EXPECT_EQ(word("effects"), "[\"" + job.raw.jid + R"(",{"ride":7}])");
}

TEST_F(SidekiqTest, we_retry_a_job_that_failed_in_ruby) {
    ruby("Failing.perform_async({ride: 7, big: 10**22, rate: 0.1})");
    start_sidekiq();
    EXPECT_EQ(word("errors"), "SMTP 550: no such mailbox");
    ::kill(sidekiq, SIGKILL);
    ::waitpid(sidekiq, nullptr, 0);
    sidekiq = -1;

    const auto jobs = queue_later.claim(10, 30s);

    ASSERT_EQ(jobs.size(), 1);
    EXPECT_EQ(jobs[0].kind, "Failing");
    EXPECT_EQ(jobs[0].failures, 1);
    EXPECT_EQ(jobs[0].raw.args, R"({"ride":7,"big":10000000000000000000000,"rate":0.1})");
    EXPECT_EQ(jobs[0].raw.last_error, "RuntimeError: SMTP 550: no such mailbox");
    ASSERT_TRUE(jobs[0].raw.first_failed_at);
    EXPECT_LE(std::chrono::abs(*jobs[0].raw.first_failed_at - client.now()), 60s);
}

TEST_F(SidekiqTest, a_dead_job_of_ruby_is_a_dead_letter_that_can_be_merged) {
    ruby("Hopeless.perform_async({ride: 7})");
    start_sidekiq();
    EXPECT_EQ(word("errors"), "SMTP 550: no such mailbox");

    const auto dead = letters.page({}, "", 10);
    ASSERT_EQ(dead.size(), 1);
    EXPECT_EQ(dead[0].kind, "Hopeless");
    EXPECT_EQ(dead[0].queue, "default");
    EXPECT_EQ(dead[0].args, R"({"ride":7})");
    EXPECT_EQ(dead[0].error, "RuntimeError: SMTP 550: no such mailbox");
    EXPECT_LE(std::chrono::abs(dead[0].died_at - client.now()), 60s);
    EXPECT_EQ(letters.merge(Texts{dead[0].id}, act, client.now()).done, 1);

    EXPECT_EQ(word("errors"), "SMTP 550: no such mailbox");
    const auto again = letters.page({}, "", 10);
    ASSERT_EQ(again.size(), 1);
    EXPECT_EQ(again[0].jid, dead[0].jid);
    EXPECT_NE(again[0].id, dead[0].id);
    EXPECT_THAT(again[0].history, HasSubstr(R"("merged_by":"ann")")) << "Ruby kept what is ours";
}

TEST_F(SidekiqTest, ruby_shows_and_revives_our_dead_jobs) {
    auto job = staged(long_id(1));
    job.kind = "Receipt";
    push(client, job);
    EXPECT_TRUE(queue.dead_letter(queue.claim(1, 30s).at(0), "no such mailbox"));

    EXPECT_THAT(
        ruby("d = Sidekiq::DeadSet.new.first; puts [d.jid, d.klass, d['error_message']].inspect; "
             "d.retry"),
        HasSubstr("[\"" + long_id(1) + R"(", "Receipt", "no such mailbox"])")
    );

    EXPECT_EQ(queue.claim(1, 30s).at(0).raw.jid, long_id(1));
    EXPECT_TRUE(letters.page({}, "", 10).empty());
}

TEST_F(SidekiqTest, payloads_that_ruby_cannot_read_become_our_dead_letters) {
    server.ask({"LPUSH", "queue:default", "not json"});
    auto job = staged(long_id(1));
    job.kind = "Receipt";
    push(client, job);

    start_sidekiq();
    EXPECT_THAT(word("effects"), HasSubstr(long_id(1))) << "which comes behind it";

    const auto dead = letters.page({}, "", 10);
    ASSERT_EQ(dead.size(), 1);
    EXPECT_EQ(dead[0].args, "not json");
    EXPECT_EQ(letters.purge(Texts{dead[0].id}, act).done, 1);
}

}  // namespace
}  // namespace pawl::testing
