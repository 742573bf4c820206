#pragma once

#include <pawl/detail/steps_check.hpp>
#include <pawl/principal.hpp>
#include <pawl/response.hpp>
#include <pawl/tx.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace pawl {

// A request that changes nothing (GET): no key, no transaction, a read snapshot.
template <class Request_>
struct Asked {
    using Request = Request_;
    Principal principal{};
    std::string origin{};
    Request request{};
};

// Called on the server's threads, concurrently.
// `class ShowRide { static constexpr std::string_view name = "show_ride";
//                   Response answer(Snapshot& read, const Asked<RideId>& at); };`
namespace detail {
template <class Result, class Parameters>
struct AnswerParts {
    static constexpr bool valid = false;
};
template <class R>
struct AnswerParts<Response, List<Snapshot&, const Asked<R>&>> {
    static constexpr bool valid = true;
    using Request = R;
};
template <class F>
using AnswerSignature = AnswerParts<typename Member<F>::Result, typename Member<F>::Parameters>;
}  // namespace detail

template <class Q>
concept Query = requires {
    { Q::name } -> std::convertible_to<std::string_view>;
    requires detail::AnswerSignature<decltype(&Q::answer)>::valid;
};

}  // namespace pawl
