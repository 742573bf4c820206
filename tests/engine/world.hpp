#pragma once

#include <pawl/operation.hpp>
#include <pawl/service.hpp>
#include <pawl/tx.hpp>

#include "src/engine/engine.hpp"
#include "src/engine/random.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/worker.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "src/store/migrate.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// An engine on a real SQLite database in memory, with a clock that the test moves and a store that fails to order.
namespace pawl::testing {

using namespace std::chrono_literals;
using engine::Answer;
using engine::Refused;
using engine::Settled;
using engine::Why;

class HandClock final : public core::Clock {
public:
    TimePoint now() override { return TimePoint{ms_.load() * 1ms}; }
    std::chrono::steady_clock::time_point steady() override { return std::chrono::steady_clock::now(); }
    void advance(std::chrono::milliseconds by) { ms_ += by.count(); }

private:
    std::atomic<std::int64_t> ms_{1'800'000'000'000};
};

// Passes everything on, but fails the writes that the test names, counted from arm().
class FailingStore final : public store::Store {
public:
    enum class How { undone, in_doubt };  // in_doubt: it was committed, and nobody is told so.
    explicit FailingStore(std::unique_ptr<store::Store> inner) : inner_{std::move(inner)} {}

    // The nth write from now on fails; 0 disarms.
    void arm(int nth, How how) {
        const std::lock_guard lock{mutex_};
        nth_ = nth;
        how_ = how;
        count_ = 0;
    }
    int writes() const { return count_; }

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override {
        const auto how = [&]() -> std::optional<How> {
            const std::lock_guard lock{mutex_};
            return ++count_ == nth_ ? std::optional{how_} : std::nullopt;
        }();
        if (!how) return inner_->write(std::move(work), urgency);
        inner_->write(std::make_unique<Failed>(std::move(work), *how), urgency);
    }
    void read(std::unique_ptr<store::Work> work) override { inner_->read(std::move(work)); }
    std::optional<std::string_view> text_of(const Sql& statement) const override { return inner_->text_of(statement); }
    store::StoreStats stats() const override { return inner_->stats(); }
    void stop() override { inner_->stop(); }

private:
    class Failed final : public store::Work {
    public:
        Failed(std::unique_ptr<store::Work> inner, How how) : inner_{std::move(inner)}, how_{how} {}
        void run(store::Session& session) override {
            inner_->run(session);
            if (how_ == How::undone) throw error(StoreError::Effect::rolled_back);
        }
        void done(std::exception_ptr failed) noexcept override {
            if (!failed) failed = std::make_exception_ptr(error(StoreError::Effect::in_doubt));
            inner_->done(std::move(failed));
        }

    private:
        static StoreError error(StoreError::Effect effect) {
            return {StoreError::Kind::unavailable, effect, "commit", "a planted failure"};
        }
        std::unique_ptr<store::Work> inner_;
        How how_;
    };

    std::unique_ptr<store::Store> inner_;
    std::mutex mutex_;
    std::atomic<int> count_{0};
    int nth_{0};
    How how_{How::undone};
};

// Lets the threads of a test wait for each other, never longer than its limit.
class Gate {
public:
    void open() { opened_.set_value(); }
    void wait() {
        if (future_.wait_for(10s) != std::future_status::ready) throw std::logic_error{"nobody opened the gate in 10 s"};
    }

private:
    std::promise<void> opened_;
    std::shared_future<void> future_{opened_.get_future()};
};

class World {
public:
    explicit World(engine::EngineOptions options = {}) : options_{options} {
        store::apply_migrations(store, "pawl", sql::migrations::all);
        start();
    }
    ~World() { stop(); }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // As a deploy does: what was in memory is gone, the database stays. Operations are added anew.
    void restart() {
        stop();
        start();
    }
    void stop() {
        if (engine) engine->stop(10s);
        engine.reset();
    }

    template <class Op>
    void add(Op op) {
        engine->add(detail::form_of<Op>(std::make_shared<Op>(std::move(op))));
    }

    // A request as HTTP would hand it over: its fields as JSON.
    template <class Op>
    engine::KeyedRequest request(const std::string& key, const std::string& json, const std::string& account = "jane") {
        const auto* form = engine->find(Op::name);
        engine::KeyedRequest made;
        made.operation = form;
        made.principal = {"rides", account};
        made.key = key;
        made.method = "POST";
        made.path = "/";
        made.origin = "127.0.0.1";
        detail::RequestFields fields;
        EXPECT_FALSE(fields.add_json(json));
        auto decoded = form->request(fields);
        if (auto* problem = std::get_if<DecodeProblem>(&decoded)) throw std::logic_error{detail::text_of(*problem)};
        made.request = std::get<detail::Anything>(decoded);
        made.params = form->encode_request(made.request.get());
        made.fingerprint = made.params;
        made.fingerprint_under = [params = made.params](const std::string&) { return params; };
        return made;
    }

    template <class Op>
    std::future<Answer> send(const std::string& key, const std::string& json = "{}", const std::string& account = "jane") {
        auto promise = std::make_shared<std::promise<Answer>>();
        auto future = promise->get_future();
        engine->handle(request<Op>(key, json, account), [promise](Answer answer) { promise->set_value(std::move(answer)); });
        return future;
    }
    template <class Op>
    Answer ask(const std::string& key, const std::string& json = "{}", const std::string& account = "jane") {
        return get(send<Op>(key, json, account));
    }
    static Answer get(std::future<Answer> future) {
        if (future.wait_for(20s) != std::future_status::ready) throw std::logic_error{"no answer in 20 s"};
        return future.get();
    }

    // Asks until the answer is settled, as a client does; at most `tries` times.
    template <class Op>
    Answer ask_until_settled(const std::string& key, const std::string& json = "{}", int tries = 20) {
        Answer answer;
        for (int i = 0; i < tries; ++i) {
            answer = ask<Op>(key, json);
            if (std::holds_alternative<Settled>(answer)) break;
            clock.advance(options_.lease);
        }
        return answer;
    }

    ops::CompleterReport complete() {
        ops::Completer completer{*engine, {}};
        return completer.run_once(clock.now());
    }

    std::int64_t count(std::string_view table_where) {
        return number("SELECT count(*) FROM " + std::string{table_where});
    }
    std::int64_t number(const std::string& text) {
        const Sql sql{"test", text, {}};
        return store::read_now(store, [&](store::Session& session) {
            std::int64_t value = 0;
            session.run(sql, {}, [&](const detail::Row& row) { value = row.integer(0); });
            return value;
        });
    }
    std::string text(const std::string& query) {
        const Sql sql{"test", query, {}};
        return store::read_now(store, [&](store::Session& session) {
            std::string value;
            session.run(sql, {}, [&](const detail::Row& row) { value = row.is_null(0) ? "NULL" : std::string{row.text(0)}; });
            return value;
        });
    }
    void execute(const std::string& text) {
        const Sql sql{"test", text, {}};
        store::write_now(store, [&](store::Session& session) { session.run(sql, {}, [](const detail::Row&) {}); });
    }

    HandClock clock;
    FailingStore store{std::make_unique<sqlite::SqliteStore>(sqlite::SqliteOptions{.path = ":memory:"}, clock)};
    std::unique_ptr<engine::Engine> engine;

private:
    void start() {
        auto& random = engine::system_random();
        engine = std::make_unique<engine::Engine>(
            engine::Engine::Parts{store, clock, random}, options_, engine::open_installation(store, clock, random, "")
        );
    }
    engine::EngineOptions options_;
};

inline int status_of(const Answer& answer) {
    const auto* settled = std::get_if<Settled>(&answer);
    return settled != nullptr ? settled->response.status : 0;
}
inline std::string body_of(const Answer& answer) {
    const auto* settled = std::get_if<Settled>(&answer);
    return settled != nullptr ? settled->response.body : std::string{};
}
inline bool replayed(const Answer& answer) {
    const auto* settled = std::get_if<Settled>(&answer);
    return settled != nullptr && settled->replayed;
}
inline std::optional<Why> why_of(const Answer& answer) {
    const auto* refused = std::get_if<Refused>(&answer);
    return refused != nullptr ? std::optional{refused->why} : std::nullopt;
}

}  // namespace pawl::testing
