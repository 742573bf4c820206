#include "src/store/sqlite/sqlite_store.hpp"
#include "tests/kafka/world.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

// A worker in its own process (victim.cpp) is killed at a fault point; another takes over.
namespace pawl::queue {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KafkaKillTest : public KafkaTest {
protected:
    // Its exit status, as from wait().
    int run_victim(const std::string& action, const std::string& fault) {
        const auto child = ::fork();
        if (child == 0) {
            ::setenv("PAWL_FAULT_AT", (fault + ":1:kill9").c_str(), 1);
            ::execl(
                PAWL_KAFKA_VICTIM,
                "kafka_victim",
                options.brokers.c_str(),
                options.prefix.c_str(),
                file().c_str(),
                action.c_str(),
                nullptr
            );
            ::_exit(127);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }
    static bool was_killed(int status) {
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    std::string file() { return folder.file("jobs.db"); }

    void SetUp() override {
        make_topics();
        sqlite::SqliteStore home{{.path = file()}, clock};
        store::apply_migrations(home, "pawl", sql::migrations::all);
    }
    // The jobs that the next worker finds.
    std::vector<ClaimedJob> found_after() {
        home_ = std::make_unique<sqlite::SqliteStore>(sqlite::SqliteOptions{.path = file()}, clock);
        heir = std::make_unique<KafkaQueue>(options, "default", *home_, clock);
        return take(*heir);
    }

    conformance::Folder folder;
    std::unique_ptr<store::Store> home_;
    std::unique_ptr<KafkaQueue> heir;
};

}  // namespace

TEST_F(
    KafkaKillTest, after_a_kill_between_a_retry_and_its_commit_a_job_is_there_twice_under_one_jid
) {
    push({"jid"});

    EXPECT_TRUE(was_killed(run_victim("reschedule", "kafka.reschedule.after")));

    const auto jobs = found_after();
    ASSERT_THAT(jids(jobs), ElementsAre("jid", "jid"));
    EXPECT_EQ(jobs[0].failures + jobs[1].failures, 1);
    EXPECT_TRUE(heir->finish(jobs[0]));
    conformance::write_now(*home_, [&](store::Session& session) {
        EXPECT_EQ(heir->finish_in_transaction(session, jobs[1]), FinishResult::done_before);
        return 0;
    });
}

TEST_F(KafkaKillTest, after_a_kill_before_a_retry_a_job_is_unchanged) {
    push({"jid"});

    EXPECT_TRUE(was_killed(run_victim("reschedule", "kafka.reschedule.before")));

    const auto jobs = found_after();
    ASSERT_THAT(jids(jobs), ElementsAre("jid"));
    EXPECT_EQ(jobs[0].failures, 0);
}

TEST_F(KafkaKillTest, after_a_kill_between_inbox_and_commit_a_job_is_not_done_again) {
    push({"jid"});

    EXPECT_TRUE(was_killed(run_victim("finish", "kafka.finish.after")));

    EXPECT_THAT(found_after(), IsEmpty());
}

TEST_F(KafkaKillTest, after_a_kill_before_it_was_done_a_job_comes_again_with_its_call) {
    push({"jid"});

    EXPECT_TRUE(was_killed(run_victim("call", "kafka.finish.before")));

    const auto jobs = found_after();
    ASSERT_THAT(jids(jobs), ElementsAre("jid"));
    EXPECT_TRUE(jobs[0].called_at);
}

TEST_F(KafkaKillTest, after_a_kill_between_burial_and_commit_a_job_is_dead_and_comes_again) {
    push({"jid"});

    EXPECT_TRUE(was_killed(run_victim("dead_letter", "kafka.dead_letter.after")));

    EXPECT_THAT(jids(found_after()), ElementsAre("jid"));
    EXPECT_EQ(KafkaDeadLetters(options, *home_, clock).page({}, "", 10).size(), 1);
}

}  // namespace pawl::queue
