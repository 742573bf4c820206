#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

struct Letter {
    static constexpr std::string_view kind = "letter";
    std::string to;
};

class PostLetter {
public:
    static constexpr std::string_view name = "post_letter";
    using Started = pawl::Started<Letter>;
    Finish post(Tx&, const Started&) { return answer(200, std::string{"posted"}); }
    using Flow = Steps<Atomic<&PostLetter::post>>;
};

class JobSecretTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto& form =
            world.engine->add(detail::erase_operation(std::make_shared<PostLetter>()));
        worker.add(detail::kind_of_job<Letter>(), form);
    }
    void stage() {
        world.execute(
            "INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, created_at) VALUES "
            "('0123456789abcdef01234567', 'default', 'letter', '{\"to\":\"ann\"}', 'ready', "
            "'2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')"
        );
    }

    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::Worker worker{*world.engine, queue, pauses, {}};
};

// Issue 38, part 3: it was discarded as settled with another request, though it was the same.
TEST_F(JobSecretTest, a_job_waits_while_this_server_lacks_the_secret_of_its_key) {
    stage();
    ASSERT_EQ(worker.run_once(10).done, 1);
    world.execute("UPDATE pawl_idempotency_keys SET secret_version = 99");
    stage();

    const auto report = worker.run_once(10);
    EXPECT_EQ(report.retried, 1);
    EXPECT_EQ(report.dead_lettered, 0);
    EXPECT_EQ(world.number("SELECT failures FROM pawl_jobs"), 0);

    world.execute("UPDATE pawl_idempotency_keys SET secret_version = 1");
    world.clock.advance(2min);
    EXPECT_EQ(worker.run_once(10).done, 1);
}

}  // namespace
}  // namespace pawl::testing
