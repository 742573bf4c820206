#pragma once

#include <pawl/call.hpp>
#include <pawl/database.hpp>
#include <pawl/detail/json.hpp>
#include <pawl/job.hpp>
#include <pawl/point.hpp>
#include <pawl/steps.hpp>
#include <pawl/tx.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// For tests of operations: a test calls a step directly. A Tx is on a real SQLite database in
// memory. A Call sends nothing by itself: the test gives the step its client.
//
//   pawl::testing::TestDatabase database{"rides", rides::sql::migrations::all};
//   auto next = database.in_tx([&](pawl::Tx& tx) { return op.create_ride(tx, started); });
//   EXPECT_EQ(pawl::testing::point<BookRide::RideCreated>(next)->amount, 2000);
namespace pawl::testing {

// A fresh database in memory, with Pawl's tables and the application's.
class TestDatabase {
public:
    explicit TestDatabase(std::string_view owner = {}, std::span<const Sql* const> migrations = {})
        : database_{Database::open("sqlite::memory:")} {
        if (!migrations.empty()) database_->migrate(owner, migrations);
    }

    // Runs one transaction: committed when f returns, rolled back when it throws. Returns f's
    // result. As in a server, f may run again, and a client that is called in it ends the process.
    template <class F>
    auto in_tx(F f, Isolation isolation = Isolation::repeatable_read) {
        using Result = std::invoke_result_t<F&, Tx&>;
        if constexpr (std::is_void_v<Result>) {
            database_->write([&](Tx& tx) { f(tx); }, isolation);
        } else {
            std::optional<Result> result;
            database_->write([&](Tx& tx) { result.emplace(f(tx)); }, isolation);
            return std::move(*result);
        }
    }

    // The number of staged jobs of a kind.
    std::int64_t staged(std::string_view kind) {
        static constexpr Statement<1> count{
            "count_staged", "SELECT count(*) FROM pawl_jobs WHERE kind = $1", {}};
        return in_tx([&](Tx& tx) { return query_one<std::int64_t>(tx, count, kind); });
    }

    // The staged jobs of Args, in order, without those that a running service has done.
    template <JobArgs Args>
    std::vector<Args> jobs() {
        static constexpr Statement<1> list{
            "list_staged", "SELECT args FROM pawl_jobs WHERE kind = $1 ORDER BY id", {}};
        std::vector<Args> found;
        for (const auto& text :
             in_tx([](Tx& tx) { return query<std::string>(tx, list, Args::kind); }))
            found.push_back(std::get<Args>(detail::decode<Args>(text)));
        return found;
    }

    Database& database() { return *database_; }

private:
    std::unique_ptr<Database> database_;
};

// A Call for a foreign step. It asserts as a real one does: not within in_tx().
class FakeCall {
public:
    explicit FakeCall(std::string key = std::string(64, 'a'))
        : call_{CallKey{std::move(key)}, stop_.get_token()} {}
    KeyedCall& keyed() { return call_; }
    Call& plain() { return call_; }
    void request_stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
    KeyedCall call_;
};

// The same for an inquiry, and for a Routed call to one of a router's providers.
class FakeInquiry {
public:
    explicit FakeInquiry(
        std::string key = std::string(64, 'a'),
        TimePoint called_at = {},
        const pawl::Provider* provider = nullptr
    )
        : call_{CallKey{std::move(key)}, called_at, provider, {}} {}
    InquiryCall& call() { return call_; }

private:
    InquiryCall call_;
};
class FakeRoutedCall {
public:
    explicit FakeRoutedCall(const pawl::Provider& provider, std::string key = std::string(64, 'a'))
        : call_{CallKey{std::move(key)}, provider, {}} {}
    RoutedCall& call() { return call_; }

private:
    RoutedCall call_;
};

// The point that a step led to, or nullptr if it led elsewhere. These four return pointers into
// their argument: keep that in a variable.
template <class P, class... To>
const P* point(const Next<To...>& next) {
    return std::get_if<P>(&next.where());
}
// The final response of a step, or nullptr if the operation goes on or the step refused.
template <class... To>
const Response* finish(const Next<To...>& next) {
    const auto* answer = std::get_if<Answer>(&next.where());
    return answer != nullptr ? &answer->response : nullptr;
}
// The response of a step that refused, or nullptr. in_tx() keeps its writes; a service does not.
template <class... To>
requires detail::refuses<To...>
const Response* refusal(const Next<To...>& next) {
    const auto* refused = std::get_if<Refusal>(&next.where());
    return refused != nullptr ? &refused->response : nullptr;
}
// The result of a foreign call, or nullptr if it ended otherwise.
template <class R, class... Results>
const R* result(const Outcome<Results...>& outcome) {
    return std::get_if<R>(&outcome.value());
}

}  // namespace pawl::testing
