#pragma once

#include <pawl/operation.hpp>
#include <pawl/service.hpp>
#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/base/text.hpp"
#include "src/core/fault.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/ops/completer.hpp"
#include "src/ops/reaper.hpp"
#include "src/ops/worker.hpp"
#include "src/queue/embedded/embedded_queue.hpp"
#include "src/store/migrate.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"
#include "tests/engine/failing_store.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

// An engine on a real SQLite file, with a clock that the test moves and a store that fails on
// request.
namespace pawl::testing {

using namespace std::chrono_literals;
using engine::Answer;
using engine::Reason;
using engine::Rejection;
using engine::StoredResponse;

class HandClock final : public base::Clock {
public:
    TimePoint now() override { return TimePoint{ms_.load() * 1ms}; }
    std::chrono::steady_clock::time_point steady() override {
        return std::chrono::steady_clock::now();
    }
    void advance(std::chrono::milliseconds by) { ms_ += by.count(); }
    void set(TimePoint to) { ms_ = to.time_since_epoch().count(); }

private:
    std::atomic<std::int64_t> ms_{1'800'000'000'000};
};

// A new folder, removed with its object. In memory if possible: a test need not survive its
// machine.
class TempFolder {
public:
    TempFolder() {
        if (::mkdtemp(name_.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(name_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    std::filesystem::path path() const { return name_; }

private:
    static std::filesystem::path place() {
        return std::filesystem::exists("/dev/shm") ? "/dev/shm"
                                                   : std::filesystem::temp_directory_path();
    }
    std::string name_{(place() / "pawl_XXXXXX").string()};
};

// The end of an exception's text that is no UTF-8; "?" is stored.
inline const std::string not_utf8{"\xff"};

// Lets the threads of a test wait for each other, at most as long as its limit.
class Gate {
public:
    void open() { opened_.set_value(); }
    void wait() {
        if (future_.wait_for(10s) != std::future_status::ready)
            throw std::logic_error{"nobody opened the gate in 10 s"};
    }

private:
    std::promise<void> opened_;
    std::shared_future<void> future_{opened_.get_future()};
};

class World {
public:
    // On a fresh file, or on one that another world left, as after a crash.
    explicit World(engine::EngineOptions options = {}, std::filesystem::path at = {})
        : file{at.empty() ? folder_.path() / "pawl.db" : std::move(at)}, options_{options} {
        store::apply_migrations(store, "pawl", sql::migrations::all);
        start();
    }
    ~World() {
        stop();
        check_texts();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // As a deploy: memory is lost, the database stays. Operations must be added again.
    void restart() {
        stop();
        start();
    }
    void stop() {
        if (engine) engine->stop(10s);
        engine.reset();
    }
    // Another node on the same database.
    std::unique_ptr<engine::Engine> another_engine() { return make_engine(clock); }
    // Of a server whose clock is not the database's.
    std::unique_ptr<engine::Engine> another_engine(base::Clock& its_clock) {
        return make_engine(its_clock);
    }

    template <class Op>
    void add(Op op) {
        add_to(*engine, std::move(op));
    }
    template <class Op>
    static void add_to(engine::Engine& to, Op op) {
        to.add(detail::erase_operation(std::make_shared<Op>(std::move(op))));
    }

    // A request as HTTP would pass it on: its fields as JSON.
    template <class Op>
    engine::KeyedRequest request(
        const std::string& key, const std::string& json, const std::string& account = "jane"
    ) {
        return request_to<Op>(*engine, key, json, account);
    }
    template <class Op>
    static engine::KeyedRequest request_to(
        engine::Engine& to,
        const std::string& key,
        const std::string& json,
        const std::string& account = "jane"
    ) {
        const auto* form = to.find(Op::name);
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
        if (auto* problem = std::get_if<DecodeProblem>(&decoded))
            throw std::logic_error{detail::text_of(*problem)};
        made.request = std::get<detail::ErasedValue>(decoded);
        made.params = form->encode_request(made.request.get());
        made.fingerprint = made.params;
        made.fingerprint_text = made.params;
        return made;
    }

    template <class Op>
    std::future<Answer> send(
        const std::string& key, const std::string& json = "{}", const std::string& account = "jane"
    ) {
        return send_to<Op>(*engine, key, json, account);
    }
    template <class Op>
    static std::future<Answer> send_to(
        engine::Engine& to,
        const std::string& key,
        const std::string& json,
        const std::string& account = "jane"
    ) {
        auto promise = std::make_shared<std::promise<Answer>>();
        auto future = promise->get_future();
        to.handle(request_to<Op>(to, key, json, account), [promise](Answer answer) {
            promise->set_value(std::move(answer));
        });
        return future;
    }
    template <class Op>
    Answer ask(
        const std::string& key, const std::string& json = "{}", const std::string& account = "jane"
    ) {
        return get(send<Op>(key, json, account));
    }
    static Answer get(std::future<Answer> future) {
        if (future.wait_for(20s) != std::future_status::ready)
            throw std::logic_error{"no answer in 20 s"};
        return future.get();
    }

    // Repeats until the answer is final, as a client does, at most `tries` times.
    template <class Op>
    Answer ask_until_settled(
        const std::string& key, const std::string& json = "{}", int tries = 20
    ) {
        Answer answer;
        for (int i = 0; i < tries; ++i) {
            answer = ask<Op>(key, json);
            if (std::holds_alternative<StoredResponse>(answer)) break;
            clock.advance(options_.lease);
        }
        return answer;
    }

    // `settle_after`: the minimum age of a decision.
    ops::CompleterReport complete(std::chrono::milliseconds settle_after = 0ms) {
        ops::Completer completer{*engine, {.settle_after = settle_after}};
        return completer.run_once();
    }

    std::int64_t count(std::string_view table_where) {
        return number("SELECT count(*) FROM " + std::string{table_where});
    }
    std::int64_t number(const std::string& text) {
        return store::read_now(store, [&](store::Session& session) {
            return number_in(session, text);
        });
    }
    static std::int64_t number_in(store::Session& session, const std::string& text) {
        const Sql sql{"test", text, {}};
        std::int64_t value = 0;
        session.run(sql, {}, [&](const detail::Row& row) { value = row.integer(0); });
        return value;
    }
    std::string text(const std::string& query) {
        const Sql sql{"test", query, {}};
        return store::read_now(store, [&](store::Session& session) {
            std::string value;
            session.run(sql, {}, [&](const detail::Row& row) {
                value = row.is_null(0) ? "NULL" : std::string{row.text(0)};
            });
            return value;
        });
    }
    void execute(const std::string& text) {
        const Sql sql{"test", text, {}};
        store::write_now(store, [&](store::Session& session) {
            session.run(sql, {}, [](const detail::Row&) {});
        });
    }

private:
    TempFolder folder_;

public:
    const std::filesystem::path file;
    HandClock clock;
    FailingStore store{
        std::make_unique<sqlite::SqliteStore>(sqlite::SqliteOptions{.path = file.string()}, clock)};
    std::string secret_file{};  // For the next start.
    std::unique_ptr<engine::Engine> engine;

private:
    // An exception of the application may say any bytes (not_utf8), and PostgreSQL refuses those
    // that are no text. SQLite stores them.
    void check_texts() {
        for (const auto* columns :
             {"error FROM pawl_idempotency_keys",
              "coalesce(detail, '') || coalesce(settling_error, '') || coalesce(settled_note, '') "
              "|| coalesce(settled_by, '') FROM pawl_attention",
              "coalesce(last_error, '') || history FROM pawl_jobs",
              "coalesce(last_error, '') || history || error_kind FROM pawl_dead_jobs",
              "coalesce(last_error, '') || history FROM pawl_staged_jobs",
              "detail FROM pawl_inquiries",
              "coalesce(call_target, '') || detail FROM pawl_calls_not_made",
              "error FROM pawl_unrecorded_results",
              "events FROM pawl_key_events",
              "actor || detail FROM pawl_audit_log"}) {
            const auto text = "SELECT " + std::string{columns};
            const Sql sql{"check_texts", text, {}};
            try {
                store::read_now(store, [&](store::Session& session) {
                    session.run(sql, {}, [&](const detail::Row& row) {
                        EXPECT_TRUE(row.is_null(0) || base::is_utf8(row.text(0))) << text;
                    });
                });
            } catch (const StoreError&) {  // The test has broken the database.
            }
        }
    }
    void start() { engine = make_engine(clock); }
    std::unique_ptr<engine::Engine> make_engine(base::Clock& its_clock) {
        auto& random = base::system_random();
        return std::make_unique<engine::Engine>(
            engine::Engine::Parts{store, its_clock, random},
            options_,
            engine::open_installation(store, clock, random, secret_file)
        );
    }
    engine::EngineOptions options_;
};

inline int status_of(const Answer& answer) {
    const auto* settled = std::get_if<StoredResponse>(&answer);
    return settled != nullptr ? settled->response.status : 0;
}
inline std::string body_of(const Answer& answer) {
    const auto* settled = std::get_if<StoredResponse>(&answer);
    return settled != nullptr ? settled->response.body : std::string{};
}
inline bool replayed(const Answer& answer) {
    const auto* settled = std::get_if<StoredResponse>(&answer);
    return settled != nullptr && settled->replayed;
}
inline std::optional<Reason> why_of(const Answer& answer) {
    const auto* refused = std::get_if<Rejection>(&answer);
    return refused != nullptr ? std::optional{refused->reason} : std::nullopt;
}

}  // namespace pawl::testing
