#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>
#include <pawl/tx.hpp>

#include "src/engine/clock.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/random.hpp"
#include "src/store/migrate.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "store/migrations.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Servers that share a PostgreSQL, and a request that is sent to more than one of them: the one
// that comes second waits (in_progress = wait(max)).
namespace pawl::testing {
namespace {

using namespace std::chrono_literals;
using engine::Answer;
using engine::Why;

struct PayRequest {
    long cents{};
};
struct Receipt {
    std::string key;
};

// The provider's books are a table apart: what it was asked, by whichever process.
class Pay {
public:
    static constexpr std::string_view name = "pay";
    static constexpr auto in_progress = wait(60s);
    using Started = pawl::Started<PayRequest>;
    struct Begun {
        static constexpr std::string_view name = "begun";
        long cents{};
    };
    using Charge = std::function<void(const std::string& key)>;
    explicit Pay(Charge charge) : charge_{std::move(charge)} {}

    Next<Begun> begin(Tx&, const Started& at) { return Begun{at.request.cents}; }
    Outcome<Receipt> charge(KeyedCall& call, const Begun&) {
        charge_(call.key().text);
        return Receipt{call.key().text};
    }
    Finish keep(Tx& tx, const Begun& at, const Receipt&) {
        static constexpr Statement<1> insert{
            "insert_payment", {}, "INSERT INTO payments (cents) VALUES ($1)"};
        execute(tx, insert, at.cents);
        return respond(201, at);
    }
    using Flow =
        Steps<Atomic<&Pay::begin>, Foreign<Repeat::safe_with_key, &Pay::charge, &Pay::keep>>;

private:
    Charge charge_;
};

// Passes everything on, and counts the reads: each claim is one, each look for all who wait is one.
class CountingStore final : public store::Store {
public:
    explicit CountingStore(std::unique_ptr<store::Store> inner) : inner_{std::move(inner)} {}
    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override {
        inner_->write(std::move(work), urgency);
    }
    void read(std::unique_ptr<store::Work> work) override {
        ++reads;
        inner_->read(std::move(work));
    }
    std::optional<std::string_view> text_of(const Sql& statement) const override {
        return inner_->text_of(statement);
    }
    bool serves_one_process() const override { return false; }
    void notify(std::string_view hash) override { inner_->notify(hash); }
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override {
        return inner_->listen(std::move(on_notice));
    }
    void stop() override { inner_->stop(); }

    std::atomic<int> reads{0};

private:
    std::unique_ptr<store::Store> inner_;
};

template <class F>
void wait_until(const char* what, F f) {
    for (int i = 0; i < 2'000; ++i) {
        if (f()) return;
        std::this_thread::sleep_for(10ms);
    }
    throw std::logic_error{std::string{"in vain for 20 s: "} + what};
}

// A server, but for its HTTP.
class Node {
public:
    Node(const std::string& url, engine::EngineOptions options, bool notify, Pay::Charge charge)
        : store{std::make_unique<postgres::PostgresStore>(
              postgres::PostgresOptions{.url = url, .connections = 4, .notify = notify},
              engine::system_clock(),
              engine::system_random()
          )} {
        store::apply_migrations(store, "pawl", sql::migrations::all);
        auto& random = engine::system_random();
        engine = std::make_unique<engine::Engine>(
            engine::Engine::Parts{store, engine::system_clock(), random},
            options,
            engine::open_installation(store, engine::system_clock(), random, {})
        );
        engine->add(detail::form_of<Pay>(std::make_shared<Pay>(std::move(charge))));
    }
    ~Node() { engine->stop(10s); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    std::future<Answer> send(const std::string& key) {
        engine::KeyedRequest request;
        request.operation = engine->find(Pay::name);
        request.principal = {"tenant", "account"};
        request.key = key;
        request.method = "POST";
        request.path = "/";
        detail::RequestFields fields;
        EXPECT_FALSE(fields.add_json(R"({"cents":5})"));
        request.request = std::get<detail::Anything>(request.operation->request(fields));
        request.fingerprint = "f";
        auto promise = std::make_shared<std::promise<Answer>>();
        auto future = promise->get_future();
        engine->handle(std::move(request), [promise](Answer answer) {
            promise->set_value(std::move(answer));
        });
        return future;
    }
    void wait_for_waiters(std::size_t n) {
        wait_until("those who wait", [&] { return engine->waiters().size() == n; });
    }

    CountingStore store;
    std::unique_ptr<engine::Engine> engine;
};

Answer get(std::future<Answer> future) {
    if (future.wait_for(30s) != std::future_status::ready)
        throw std::logic_error{"no answer in 30 s"};
    return future.get();
}

int status_of(const Answer& answer) {
    const auto* settled = std::get_if<engine::Settled>(&answer);
    return settled != nullptr ? settled->response.status : 0;
}

constexpr engine::EngineOptions never_looks{.look_every = std::chrono::hours{1}};

class PostgresAttachTest : public ::testing::Test {
protected:
    PostgresAttachTest() {
        run_sql(database.url(), "CREATE TABLE payments (cents BIGINT)");
        run_sql(database.url(), "CREATE TABLE calls (key TEXT)");
    }
    ~PostgresAttachTest() override { release(); }

    std::unique_ptr<Node> node(engine::EngineOptions options, bool notify = true) {
        return std::make_unique<Node>(database.url(), options, notify, [this](const auto& key) {
            note_call(database.url(), key);
            gone_.wait();
        });
    }
    static void note_call(const std::string& url, const std::string& key) {
        run_sql(url, "INSERT INTO calls VALUES ('" + key + "')");
    }
    // All calls hang till then.
    void release() {
        if (held_.exchange(false)) go_.set_value();
    }
    std::int64_t number(const std::string& text) {
        const Sql sql{"test", {}, text};
        return store::read_now(monitor, [&](store::Session& session) {
            std::int64_t value = 0;
            session.run(sql, {}, [&](const detail::Row& row) { value = row.integer(0); });
            return value;
        });
    }
    // Its server process; 0 while nobody listens.
    std::int64_t listener() {
        return number(
            "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'pawl-notices' AND state = 'idle' AND query = 'LISTEN "
            "pawl_keys'"
        );
    }

    PostgresDatabase database;
    // Without named statements: those go by a text's address, and here texts come and go.
    postgres::PostgresStore monitor{
        {.url = database.url(), .connections = 1, .prepared = false},
        engine::system_clock(),
        engine::system_random()};

private:
    std::atomic<bool> held_{true};
    std::promise<void> go_;
    std::shared_future<void> gone_{go_.get_future()};
};

TEST_F(PostgresAttachTest, a_notice_alone_wakes_who_waits_at_another_node) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);
    wait_until("the listener", [&] { return listener() != 0; });
    wait_until("its look at what went before", [&] { return other->store.reads == 2; });

    release();

    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(other->store.reads, 3);  // Its claim, and no look.
    EXPECT_EQ(number("SELECT count(*) FROM payments"), 1);
}

TEST_F(PostgresAttachTest, none_of_many_notices_at_once_is_lost) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    constexpr int keys = 30;
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < keys; ++i) answers.push_back(one->send("k" + std::to_string(i)));
    wait_until("the calls", [&] { return number("SELECT count(*) FROM calls") == keys; });
    for (int i = 0; i < keys; ++i) answers.push_back(other->send("k" + std::to_string(i)));
    other->wait_for_waiters(keys);
    wait_until("its look at what went before", [&] { return other->store.reads == keys + 1; });

    release();

    for (auto& answer : answers) EXPECT_EQ(status_of(get(std::move(answer))), 201);
    EXPECT_EQ(other->store.reads, 2 * keys + 1);
    EXPECT_EQ(number("SELECT count(*) FROM payments"), keys);
}

TEST_F(PostgresAttachTest, a_listener_whose_connection_is_lost_looks_and_listens_again) {
    const auto one = node(never_looks);
    const auto other = node(never_looks);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);
    wait_until("its look at what went before", [&] { return other->store.reads == 2; });
    const auto lost = listener();

    run_sql(database.url(), "SELECT pg_terminate_backend(" + std::to_string(lost) + ")");

    wait_until("another look", [&] { return other->store.reads == 3; });
    const auto found = listener();
    EXPECT_NE(found, 0);
    EXPECT_NE(found, lost);
    release();
    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(other->store.reads, 4);
}

TEST_F(PostgresAttachTest, where_no_notices_are_sent_a_look_finds_the_end) {
    const auto one = node({.look_every = 50ms}, false);
    const auto other = node({.look_every = 50ms}, false);
    auto first = one->send("k");
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);

    release();

    EXPECT_EQ(status_of(get(std::move(first))), 201);
    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(
        number("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
               "'pawl-notices' AND datname = current_database()"),
        0
    );
}

// The claims of the second node meet the locks of the first one's, too.
TEST_F(PostgresAttachTest, a_crowd_on_both_nodes_gets_one_answer_for_each_key) {
    release();
    const auto one = node({});
    const auto other = node({});
    constexpr int keys = 10;
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < keys; ++i)
        for (int n = 0; n < 4; ++n)
            answers.push_back((n % 2 == 0 ? *one : *other).send("k" + std::to_string(i)));

    for (auto& answer : answers) EXPECT_EQ(status_of(get(std::move(answer))), 201);

    EXPECT_EQ(number("SELECT count(*) FROM payments"), keys);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), keys);
}

constexpr engine::EngineOptions short_lease{.lease = 1s, .phase_deadline = 300ms};

// Not a test: what the next one starts in a process of its own.
TEST(Holder, DISABLED_hangs_in_its_call) {
    const char* url = std::getenv("PAWL_TEST_HELD");
    ASSERT_NE(url, nullptr);
    std::promise<void> never;
    Node node{url, short_lease, true, [&](const auto& key) {
                  run_sql(url, "INSERT INTO calls VALUES ('" + key + "')");
                  never.get_future().wait();
              }};
    (void)node.send("k").wait_for(60s);
    std::_Exit(1);
}

pid_t start_holder(const std::string& url) {
    ::setenv("PAWL_TEST_HELD", url.c_str(), 1);
    const pid_t started = ::fork();
    if (started == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execl(
            "/proc/self/exe",
            "holder",
            "--gtest_filter=Holder.*",
            "--gtest_also_run_disabled_tests",
            nullptr
        );
        ::_exit(127);
    }
    return started;
}

TEST_F(PostgresAttachTest, who_waits_takes_over_when_the_process_that_has_the_key_is_killed) {
    release();
    const auto other = node(short_lease);
    const auto holder = start_holder(database.url());
    wait_until("the call", [&] { return number("SELECT count(*) FROM calls") == 1; });
    auto second = other->send("k");
    other->wait_for_waiters(1);

    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);

    EXPECT_EQ(status_of(get(std::move(second))), 201);
    EXPECT_EQ(number("SELECT attempt FROM idempotency_keys"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM payments"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM calls"), 2);
    EXPECT_EQ(number("SELECT count(DISTINCT key) FROM calls"), 1);
}

}  // namespace
}  // namespace pawl::testing
