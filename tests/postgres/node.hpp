#pragma once

#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>
#include <pawl/tx.hpp>

#include "src/base/clock.hpp"
#include "src/base/random.hpp"
#include "src/engine/engine.hpp"
#include "src/store/migrate.hpp"
#include "src/store/postgres/postgres_store.hpp"
#include "store/migrations.hpp"
#include "tests/postgres/cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

// Servers that share a PostgreSQL, without HTTP.
namespace pawl::testing {

using namespace std::chrono_literals;
using engine::Answer;
using engine::Reason;

struct PayRequest {
    long cents{};
};
struct Receipt {
    std::string key;
};

// The provider's books are a separate table: its requests from all processes.
class Pay {
public:
    static constexpr std::string_view name = "pay";
    static constexpr Settings settings{.in_progress = wait(60s)};
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
        return answer(201, at);
    }
    using Flow =
        Steps<Atomic<&Pay::begin>, Foreign<Repeat::safe_with_key, &Pay::charge, &Pay::keep>>;

private:
    Charge charge_;
};

// Passes everything on, and counts the reads: one for each query of a key, and one for each poll of
// all waiters.
class CountingStore final : public store::Store {
public:
    CountingStore(std::unique_ptr<store::Store> inner, bool preallocation)
        : inner_{std::move(inner)}, ids_ahead_{preallocation} {}
    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override {
        inner_->write(std::move(work), urgency);
    }
    void read(std::unique_ptr<store::Work> work) override {
        ++reads;
        inner_->read(std::move(work));
    }
    std::string_view text_of(const Sql& statement) const override {
        return inner_->text_of(statement);
    }
    std::optional<store::PreallocationStatements> preallocation() const override {
        return ids_ahead_ ? inner_->preallocation() : std::nullopt;
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
    bool ids_ahead_;
};

template <class F>
void wait_until(const char* what, F f) {
    for (int i = 0; i < 2'000; ++i) {
        if (f()) return;
        std::this_thread::sleep_for(10ms);
    }
    throw std::logic_error{std::string{"in vain for 20 s: "} + what};
}

class Node {
public:
    struct Options {
        engine::EngineOptions engine{};
        bool notify{true};
        bool preallocation{true};
    };
    Node(const std::string& url, Options options, Pay::Charge charge)
        : store{
              std::make_unique<postgres::PostgresStore>(
                  postgres::PostgresOptions{.url = url, .connections = 4, .notify = options.notify},
                  base::system_clock(),
                  base::system_random()
              ),
              options.preallocation} {
        store::apply_migrations(store, "pawl", sql::migrations::all);
        auto& random = base::system_random();
        engine = std::make_unique<engine::Engine>(
            engine::Engine::Parts{store, base::system_clock(), random},
            options.engine,
            engine::open_installation(store, base::system_clock(), random, {})
        );
        engine->add(detail::erase_operation(std::make_shared<Pay>(std::move(charge))));
        store.reads = 0;  // Without those of its start.
    }
    ~Node() { engine->stop(10s); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    std::future<Answer> send(const std::string& key, std::string_view operation = Pay::name) {
        engine::KeyedRequest request;
        request.operation = engine->find(operation);
        request.principal = {"tenant", "account"};
        request.key = key;
        request.method = "POST";
        request.path = "/";
        detail::RequestFields fields;
        EXPECT_FALSE(fields.add_json(R"({"cents":5})"));
        request.request = std::get<detail::ErasedValue>(request.operation->request(fields));
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

inline Answer get(std::future<Answer> future) {
    if (future.wait_for(30s) != std::future_status::ready)
        throw std::logic_error{"no answer in 30 s"};
    return future.get();
}

inline int status_of(const Answer& answer) {
    const auto* settled = std::get_if<engine::StoredResponse>(&answer);
    return settled != nullptr ? settled->response.status : 0;
}

class NodesTest : public ::testing::Test {
protected:
    NodesTest() {
        run_sql(database.url(), "CREATE TABLE payments (cents BIGINT)");
        run_sql(database.url(), "CREATE TABLE calls (key TEXT)");
    }
    ~NodesTest() override { release(); }

    std::unique_ptr<Node> node(Node::Options options) { return node(options, database.url()); }
    std::unique_ptr<Node> node(Node::Options options, const std::string& url) {
        return std::make_unique<Node>(url, options, [this](const auto& key) {
            note_call(database.url(), key);
            gone_.wait();
        });
    }
    static void note_call(const std::string& url, const std::string& key) {
        run_sql(url, "INSERT INTO calls VALUES ('" + key + "')");
    }
    // All calls wait until then.
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
    PostgresDatabase database;
    // Without named statements, which are identified by a text's address: these texts are
    // temporary.
    postgres::PostgresStore monitor{
        {.url = database.url(), .connections = 1, .prepared = false},
        base::system_clock(),
        base::system_random()};

private:
    std::atomic<bool> held_{true};
    std::promise<void> go_;
    std::shared_future<void> gone_{go_.get_future()};
};

}  // namespace pawl::testing
