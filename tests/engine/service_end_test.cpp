#include <pawl/database.hpp>
#include <pawl/service.hpp>

#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {
namespace {

// How a whole Service ends, with its threads, jobs and calls.

struct Heed {
    static constexpr std::string_view kind = "heed";
    std::string text;
};

// Runs until it is told to stop.
class Heeding {
public:
    Heeding(Gate& at_work, std::promise<void>& stopped) : at_work_{&at_work}, stopped_{&stopped} {}
    JobResult work(Call& call, const Job<Heed>&) {
        std::promise<void> told;
        at_work_->open();
        const std::stop_callback on_stop{call.stop(), [&] { told.set_value(); }};
        if (told.get_future().wait_for(20s) == std::future_status::ready) stopped_->set_value();
        return retry_in(1s);
    }

private:
    Gate* at_work_;
    std::promise<void>* stopped_;
};

// Runs until the test lets it go, and ignores stops.
class Deaf {
public:
    Deaf(Gate& at_work, Gate& let_go) : at_work_{&at_work}, let_go_{&let_go} {}
    JobResult work(Call&, const Job<Heed>&) {
        at_work_->open();
        let_go_->wait();
        return done;
    }

private:
    Gate* at_work_;
    Gate* let_go_;
};

struct Hold {
    static constexpr std::string_view kind = "hold";
    std::string text;
};

// Holds the writer until the test lets it go.
class Holding {
public:
    Holding(Gate& at_work, Gate& let_go) : at_work_{&at_work}, let_go_{&let_go} {}
    void work(Tx&, const Job<Hold>&) {
        at_work_->open();
        let_go_->wait();
    }

private:
    Gate* at_work_;
    Gate* let_go_;
};

class ServiceEnd : public ::testing::Test {
protected:
    void SetUp() override {
        static constexpr Statement<0> shop{"shop_tables", shop_tables, {}};
        static constexpr Statement<0> payments{"payment_tables", payment_tables, {}};
        database->write([](Tx& tx) {
            execute(tx, shop);
            execute(tx, payments);
        });
    }
    std::unique_ptr<Database> database = Database::open("sqlite::memory:");
};

// Issue 16, number 19: each deploy left calls in doubt that took longer than 15 s.
TEST(ServiceDrain, is_longer_than_the_longest_call_unless_it_is_set) {
    for (const auto call : {1s, 25s, 60s, 600s})
        EXPECT_GE((ServiceOptions{.call_timeout = call}.drain_time()), call + 5s);
    EXPECT_EQ((ServiceOptions{.call_timeout = 25s, .drain = 1s}.drain_time()), 1s);
    EXPECT_TRUE((ServiceOptions{.call_timeout = 0s}.problem()));
    EXPECT_TRUE((ServiceOptions{.drain = -1ms}.problem()));
}

TEST_F(ServiceEnd, the_call_of_a_job_is_told_to_stop_within_the_drain) {
    Gate at_work;
    std::promise<void> stopped;
    Service service{*database};
    service.add(Heeding{at_work, stopped});
    service.start();
    database->write([](Tx& tx) { tx.stage(Heed{"x"}); });
    at_work.wait();

    EXPECT_TRUE(service.stop(3s));

    EXPECT_EQ(stopped.get_future().wait_for(0s), std::future_status::ready);
}

// Found by reading: another worker would have rescued the job, and made its call a second time.
TEST_F(ServiceEnd, the_lease_of_a_job_is_renewed_while_its_call_ends) {
    static constexpr Statement<0> find{"find_lease", "SELECT lease_until FROM pawl_jobs", {}};
    const auto lease = [&] {
        std::string until;
        database->write([&](Tx& tx) { until = query_one<std::string>(tx, find); });
        return until;
    };
    Gate at_work;
    Gate let_go;
    ServiceOptions options;
    options.job_lease = 3s;
    options.job_timeout = 2s;
    Service service{*database, options};
    service.add(Deaf{at_work, let_go});
    service.start();
    database->write([](Tx& tx) { tx.stage(Heed{"x"}); });
    at_work.wait();
    std::jthread stops{[&] { service.stop(20s); }};

    for (int renewed = 0; renewed < 2; ++renewed) {  // One may have been in flight.
        const auto before = lease();
        for (int i = 0; i < 500 && lease() == before; ++i) std::this_thread::sleep_for(20ms);
        EXPECT_NE(lease(), before);
    }

    let_go.open();
}

// Issue 38: a stop waited for its last write, and that for the handler that held the writer.
TEST_F(ServiceEnd, a_stop_is_in_time_and_names_the_handler_that_does_not_come_back) {
    Gate at_work;
    Gate let_go;
    Service service{*database};
    service.add(Holding{at_work, let_go});
    service.start();
    database->write([](Tx& tx) { tx.stage(Hold{"x"}); });
    at_work.wait();
    const auto began = std::chrono::steady_clock::now();

    EXPECT_FALSE(service.stop(100ms));

    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    const auto left = service.running_handlers();
    ASSERT_EQ(left.size(), 1);
    EXPECT_EQ(left[0].where, "transaction");
    EXPECT_EQ(left[0].name, "hold");
    EXPECT_EQ(left[0].subject.substr(0, 4), "job ");
    EXPECT_EQ(left[0].thread, "pawl-writer");
    EXPECT_GT(left[0].ran, 0ms);
    EXPECT_EQ(left[0].limit, 5s);
    let_go.open();
}

TEST_F(ServiceEnd, a_job_with_a_call_and_the_call_of_an_operation_are_named_while_they_run) {
    Gate at_work;
    Gate let_go;
    Gate at_call;
    Provider provider;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    ServiceOptions options;
    options.call_timeout = 7s;
    Service service{*database, options};
    service.add(Deaf{at_work, let_go});
    service.add(Order{provider});
    service.start();
    database->write([](Tx& tx) { tx.stage(Heed{"x"}); });
    at_work.wait();
    service.engine().handle(
        World::request_to<Order>(service.engine(), "k", order_of_jane), [](const Answer&) {}
    );
    at_call.wait();

    const auto running = service.running_handlers();

    ASSERT_EQ(running.size(), 2);
    EXPECT_EQ(running[0].where, "job");
    EXPECT_EQ(running[0].name, "heed");
    EXPECT_EQ(running[0].thread, "pawl-worker");
    EXPECT_EQ(running[0].limit, 50s);
    EXPECT_EQ(running[1].where, "call");
    EXPECT_EQ(running[1].name, Order::name);
    EXPECT_EQ(running[1].step, "ordered");
    EXPECT_EQ(running[1].subject, "key 1");
    EXPECT_EQ(running[1].thread, "pawl-call");
    EXPECT_EQ(running[1].limit, 7s);
    let_go.open();
}

// The job that it stages wakes a worker, who must still exist.
TEST_F(ServiceEnd, a_call_that_outlasts_the_drain_is_waited_for_and_its_result_kept) {
    Provider provider;
    Gate at_call;
    Gate let_go;
    provider.before([&] {
        at_call.open();
        let_go.wait();
    });
    std::promise<Answer> answered;
    std::jthread later;
    {
        Service service{*database};
        service.add(Order{provider});
        service.start();
        service.engine().handle(
            World::request_to<Order>(service.engine(), "k", order_of_jane),
            [&](Answer answer) { answered.set_value(std::move(answer)); }
        );
        at_call.wait();
        EXPECT_FALSE(service.stop(10ms));
        later = std::jthread{[&] {
            std::this_thread::sleep_for(100ms);  // Until the service is stopping.
            let_go.open();
        }};
    }
    EXPECT_EQ(status_of(answered.get_future().get()), 201);
}

}  // namespace
}  // namespace pawl::testing
