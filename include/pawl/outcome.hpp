#pragma once

#include <pawl/call.hpp>
#include <pawl/client.hpp>
#include <pawl/job.hpp>
#include <pawl/json.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace pawl {

namespace detail {

using NoResult = std::variant<Retry, InDoubt, Stuck>;
// What is known whatever the body says; nullopt: the body decides.
std::optional<NoResult> outcome_without_body(const ClientResult& end);
// What an answer means whose body is not the provider's.
NoResult outcome_by_status(const Answered& answered);

}  // namespace detail

// How a foreign call ended that was sent by Client::perform(call, ...) or send_once(call, ...):
//
//   return pawl::outcome<Accepted, Refused>(client_.perform(call, request), &read);
//   std::optional<pawl::Outcome<Accepted, Refused>> read(const pawl::Answered& answered);
//
// `read` gets each answer with a status below 500. It returns a result, or Stuck for an error that
// only a person can resolve, or nullopt if the answer is not in the provider's own form: a proxy
// may have made it. The rest is the same for every provider:
//
//   nothing was sent                             Retry
//   no answer                                    InDoubt
//   5xx                                          InDoubt
//   5xx with Idempotent-Replayed                 Stuck: stored under our key, so it never changes
//   nullopt, with status 401, 403 or 429         Retry: refused before anything was done
//   nullopt, with any other status               InDoubt
template <class... Results, class Read>
Outcome<Results...> outcome(const ClientResult& end, Read read) {
    static_assert(
        std::is_invocable_r_v<std::optional<Outcome<Results...>>, Read&, const Answered&>,
        "pawl: the second argument of outcome() is a function std::optional<Outcome<Results...>> "
        "read(const Answered&)"
    );
    const auto known = [](detail::NoResult without) {
        return std::visit([](auto& why) { return Outcome<Results...>{std::move(why)}; }, without);
    };
    if (auto without = detail::outcome_without_body(end)) return known(std::move(*without));
    const auto& answered = std::get<Answered>(end);
    std::optional<Outcome<Results...>> from_body = read(answered);
    return from_body ? std::move(*from_body) : known(detail::outcome_by_status(answered));
}

// A result that the provider gives with one status, as JSON with at least the result's fields.
template <int Status, class Result_>
struct ByStatus {
    using Result = Result_;
    static constexpr int status = Status;
};

// For a provider whose answers need no more than that:
//
//   return pawl::outcome<pawl::ByStatus<201, Accepted>, pawl::ByStatus<422, Refused>>(
//       client_.perform(call, request)
//   );
template <class... Answers>
Outcome<typename Answers::Result...> outcome(const ClientResult& end) {
    static_assert(
        ((Answers::status < 500) && ...), "pawl: a 5xx does not prove what the provider has done"
    );
    using End = Outcome<typename Answers::Result...>;
    return outcome<typename Answers::Result...>(end, [](const Answered& answered) {
        std::optional<End> found;
        const auto read = [&]<class Result>(int status, const Result*) {
            if (answered.status != status) return;
            if (auto result = from_json<Result>(answered.body, Unknown::ignored))
                found.emplace(std::move(*result));
        };
        (read(Answers::status, static_cast<const typename Answers::Result*>(nullptr)), ...);
        return found;
    });
}

// How a job ended that sent one request: 2xx is done. What never changes is discarded: another
// status with Idempotent-Replayed, which the receiver has stored under the job's key. Throws
// std::runtime_error otherwise, so that the job is tried again.
JobResult job_result(const ClientResult& end);

}  // namespace pawl
