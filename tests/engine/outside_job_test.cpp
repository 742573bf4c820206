#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// Issue 16, number 22: a worker's handling of answers that only an external queue gives. Only the
// simulator found faults in it.

struct Parcel {
    static constexpr std::string_view kind = "parcel";
    std::string to;
};

class PackInTx {
public:
    explicit PackInTx(std::string& fails) : fails_{&fails} {}
    JobResult work(Tx& tx, const Job<Parcel>& job) {
        static constexpr Statement<1> insert{
            "insert_packed", "INSERT INTO packed (text) VALUES ($1)", {}};
        execute(tx, insert, job.args.to);
        if (*fails_ == "throws") throw std::runtime_error{"a bug" + not_utf8};
        if (*fails_ == "puts off") return retry_in(5s);
        return done;
    }

private:
    std::string* fails_;
};

// Offers one job, and answers as the test says.
class Outside final : public queue::Queue {
public:
    using Queue::claim;
    std::vector<queue::ClaimedJob> claim(int, std::chrono::milliseconds, const queue::ClaimFilter&)
        override {
        queue::ClaimedJob job;
        job.id = "id";
        job.queue = "default";
        job.kind = kind;
        job.raw.jid = "0123456789abcdef01234567";
        job.raw.args = args;
        job.raw.attempt = 1;
        job.deaths = deaths;
        if (deaths > 0) job.deaths_before_alone = deaths - 1;
        return {job};
    }
    bool renew(const queue::ClaimedJob&, std::chrono::milliseconds) override { return true; }
    queue::FinishResult finish_in_transaction(detail::Session&, const queue::ClaimedJob&) override {
        return marked;
    }
    bool done_before(detail::Session&, const queue::ClaimedJob&) override {
        return marked == queue::FinishResult::done_before;
    }
    void finished(const queue::ClaimedJob&) override { ++taken_out; }
    bool finish(const queue::ClaimedJob&) override { return true; }
    using Error = std::optional<std::string>;
    bool reschedule(const queue::ClaimedJob&, std::chrono::milliseconds, const Error&) override {
        ++put_backs;
        return true;
    }
    bool dead_letter(const queue::ClaimedJob&, const std::string&) override {
        ++dead_letters;
        return true;
    }
    bool mark_called(queue::ClaimedJob&) override { return true; }
    int rescue(std::chrono::milliseconds) override { return 0; }
    std::optional<TimePoint> next_due() override { return std::nullopt; }

    queue::FinishResult marked{queue::FinishResult::done};
    std::string_view kind{Parcel::kind};
    std::string args{R"({"to":"ann"})"};
    int deaths{0};  // The last one while it ran alone.
    int taken_out{0};
    int put_backs{0};
    int dead_letters{0};
};

class OutsideJobTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute("CREATE TABLE packed (text TEXT NOT NULL) STRICT");
        worker.add(detail::erase_job(std::make_shared<PackInTx>(fails)));
    }

    std::string fails;
    World world;
    Outside queue;
    ops::Pauses pauses{world.store, world.clock};
    ops::Worker worker{*world.engine, queue, pauses, {}};
};

TEST_F(OutsideJobTest, a_done_job_is_removed_from_its_queue) {
    EXPECT_EQ(worker.run_once(1).done, 1);

    EXPECT_EQ(world.count("packed"), 1);
    EXPECT_EQ(queue.taken_out, 1);
}

TEST_F(OutsideJobTest, a_job_whose_lease_was_lost_writes_nothing_and_is_left_to_its_holder) {
    queue.marked = queue::FinishResult::lost;

    EXPECT_EQ(worker.run_once(1).lost, 1);

    EXPECT_EQ(world.count("packed"), 0);
    EXPECT_EQ(queue.taken_out, 0);
}

TEST_F(OutsideJobTest, a_job_that_was_done_before_writes_nothing_and_is_removed) {
    queue.marked = queue::FinishResult::done_before;

    EXPECT_EQ(worker.run_once(1).done_before, 1);

    EXPECT_EQ(world.count("packed"), 0);
    EXPECT_EQ(queue.taken_out, 1);
}

TEST_F(OutsideJobTest, a_job_that_was_done_before_is_removed_whatever_its_handler_returns) {
    queue.marked = queue::FinishResult::done_before;
    for (const auto* how : {"throws", "puts off"}) {
        fails = how;

        EXPECT_EQ(worker.run_once(1).done_before, 1) << how;
    }

    EXPECT_EQ(world.count("packed"), 0);
    EXPECT_EQ(queue.taken_out, 2);
    EXPECT_EQ(queue.put_backs, 0);
}

// Its server died between the commit and the removal. A merge of its dead letter after the marks
// are gone would do it again.
TEST_F(OutsideJobTest, a_job_that_was_done_before_never_becomes_a_dead_letter) {
    queue.marked = queue::FinishResult::done_before;
    queue.deaths = 4;
    EXPECT_EQ(worker.run_once(1).done_before, 1) << "its servers died";
    queue.deaths = 0;
    queue.args = "not JSON";
    EXPECT_EQ(worker.run_once(1).done_before, 1) << "its arguments do not decode";
    queue.kind = "unknown";
    EXPECT_EQ(worker.run_once(1).done_before, 1) << "no handler knows it";

    EXPECT_EQ(queue.dead_letters, 0);
    EXPECT_EQ(queue.taken_out, 3);
}

}  // namespace
}  // namespace pawl::testing
