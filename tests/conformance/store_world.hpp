#pragma once

#include <pawl/detail/rows.hpp>

#include "src/base/clock.hpp"
#include "src/store/blocking.hpp"
#include "src/store/migrate.hpp"
#include "src/store/store.hpp"
#include "store/migrations.hpp"
#include "store/statements.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// Shared by the tests of stores: a clock that the test moves, a temporary folder, and helpers.
namespace pawl::conformance {

using namespace std::chrono_literals;
using store::read_now;
using store::Session;
using store::write_now;

class HandClock final : public base::Clock {
public:
    TimePoint now() override { return TimePoint{ms_.load() * 1ms}; }
    std::chrono::steady_clock::time_point steady() override {
        return std::chrono::steady_clock::time_point{steady_ms_.fetch_add(tick_ms_.load()) * 1ms};
    }
    void advance(std::chrono::milliseconds by) {
        ms_ += by.count();
        steady_ms_ += by.count();
    }
    // From now on each reading of the clock takes this long, so that endless work meets its
    // deadline.
    void tick(std::chrono::milliseconds at_each_look) { tick_ms_ = at_each_look.count(); }

private:
    std::atomic<std::int64_t> ms_{1'800'000'000'000};  // 2027-01-15T08:00:00.000Z
    std::atomic<std::int64_t> steady_ms_{1'000'000};
    std::atomic<std::int64_t> tick_ms_{0};
};

// A new folder, removed with its content.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "pawl-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder for the test"};
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

// The number of changed rows.
template <class... A>
std::int64_t change(Session& session, const Sql& statement, const A&... arguments) {
    return detail::run_statement(
        session, statement, [](const store::Row&) {}, arguments...
    );
}

template <class R, class... A>
std::vector<R> rows(Session& session, const Sql& statement, const A&... arguments) {
    std::vector<R> found;
    detail::run_statement(
        session,
        statement,
        [&](const store::Row& row) { found.push_back(detail::row_as<R>(row, statement.name)); },
        arguments...
    );
    return found;
}

template <class R, class... A>
std::vector<R> read_rows(store::Store& store, const Sql& statement, const A&... arguments) {
    return read_now(store, [&](Session& session) {
        return rows<R>(session, statement, arguments...);
    });
}

template <class... A>
std::int64_t write_one(store::Store& store, const Sql& statement, const A&... arguments) {
    return write_now(store, [&](Session& session) {
        return change(session, statement, arguments...);
    });
}

// The error that f throws; the test fails if there is none.
template <class F>
StoreError error_of(F f) {
    try {
        f();
    } catch (const StoreError& error) {
        return error;
    }
    ADD_FAILURE() << "no StoreError was thrown";
    return {StoreError::Kind::statement, StoreError::Effect::none, "", "nothing was thrown"};
}

// A work that ends when and as the test says, and reports its end.
class Ending {
public:
    Ending() = default;
    Ending(Ending&&) = default;
    Ending& operator=(Ending&&) = default;
    // The test has read the error, so the store's thread must not be the one that frees it:
    // ThreadSanitizer does not see how libstdc++ counts its owners.
    ~Ending() {
        if (state_ && has_ended()) state_->failed = nullptr;
    }
    std::unique_ptr<store::Work> work(
        std::function<void(Session&)> run,
        std::chrono::milliseconds deadline = 5s,
        const void* kind = nullptr
    ) const {
        return store::work(
            std::move(run),
            [state = state_](std::exception_ptr failed) {
                state->failed = std::move(failed);
                state->ended.set_value();
            },
            deadline,
            Isolation::read_committed,
            kind
        );
    }
    bool has_ended() const { return future_.wait_for(0s) == std::future_status::ready; }
    // Null: committed.
    std::exception_ptr wait() const {
        if (future_.wait_for(20s) != std::future_status::ready)
            throw std::logic_error{"the work did not end in 20 s"};
        return state_->failed;
    }
    std::optional<StoreError> error() const {
        const auto failed = wait();
        if (!failed) return std::nullopt;
        try {
            std::rethrow_exception(failed);
        } catch (const StoreError& error) {
            return error;
        }
    }

private:
    struct State {
        std::promise<void> ended;
        std::exception_ptr failed;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::shared_future<void> future_{state_->ended.get_future()};
};

// A statement with one text for every store.
consteval Sql on_all(std::string_view name, std::string_view text) {
    return {name, text, text};
}
template <int Parameters>
consteval Statement<Parameters> on_all(std::string_view name, std::string_view text) {
    return {name, text, text};
}

// An application's table, for tests that are not about Pawl's own.
namespace notes {
inline constexpr Sql create{
    "create_notes",
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE, number INTEGER, real REAL, "
    "bytes BLOB) STRICT",
    // Unique by hash: an index over the text would refuse a long one.
    "CREATE TABLE notes (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, text TEXT, "
    "number BIGINT, real DOUBLE PRECISION, bytes BYTEA, EXCLUDE USING hash (text WITH =))"};
inline constexpr auto insert = on_all<1>("insert_note", "INSERT INTO notes (text) VALUES ($1)");
inline constexpr Sql count = on_all("count_notes", "SELECT count(*) FROM notes");
inline constexpr Sql texts = on_all("note_texts", "SELECT text FROM notes ORDER BY id");
}  // namespace notes

}  // namespace pawl::conformance
