#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/fixed_string.hpp>
#include <pawl/inquiry.hpp>
#include <pawl/point.hpp>
#include <pawl/router.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

// Compile-time checks of a flow: the parts of member functions, and what Steps requires.
namespace pawl {
class Tx;
}

namespace pawl::detail {

template <class...>
struct List {};

template <class... L>
struct Join {
    using type = List<>;
};
template <class... A>
struct Join<List<A...>> {
    using type = List<A...>;
};
template <class... A, class... B, class... Rest>
struct Join<List<A...>, List<B...>, Rest...> {
    using type = typename Join<List<A..., B...>, Rest...>::type;
};

// The points among the targets of a step, which may be a Refusal, too.
template <class... Target>
using Points =
    typename Join<std::conditional_t<std::same_as<Target, Refusal>, List<>, List<Target>>...>::type;
template <class... Target>
inline constexpr bool refuses = (std::same_as<Target, Refusal> || ...);

// The parts of a member function, which may be const and noexcept.
template <class T>
struct Member {
    using Class = void;
    using Result = void;
    using Parameters = List<>;
};
template <class R, class C, class... A>
struct Member<R (C::*)(A...)> {
    using Class = C;
    using Result = R;
    using Parameters = List<A...>;
};
template <class R, class C, class... A>
struct Member<R (C::*)(A...) const> : Member<R (C::*)(A...)> {};
template <class R, class C, class... A>
struct Member<R (C::*)(A...) noexcept> : Member<R (C::*)(A...)> {};
template <class R, class C, class... A>
struct Member<R (C::*)(A...) const noexcept> : Member<R (C::*)(A...)> {};

template <class Result, class Parameters>
struct AtomicSignature {
    static constexpr bool valid = false;
};
template <class... To_, class From_>
struct AtomicSignature<Next<To_...>, List<Tx&, const From_&>> {
    static constexpr bool valid = RecoveryPoint<From_>;
    static constexpr bool may_refuse = refuses<To_...>;
    using From = From_;
    using To = Points<To_...>;
};

template <class Result, class Parameters>
struct CallSignature {
    static constexpr bool valid = false;
};
// TryNext<R> is no result of its own: it is kept as R, or not at all.
template <class R>
inline constexpr bool is_try_next = false;
template <class R>
inline constexpr bool is_try_next<TryNext<R>> = true;
template <class... R>
using Kept = typename Join<std::conditional_t<is_try_next<R>, List<>, List<R>>...>::type;

template <class... R, class CallType, class From_>
requires(std::same_as<CallType, Call> || std::same_as<CallType, KeyedCall> || std::same_as<CallType, RoutedCall>) struct
    CallSignature<Outcome<R...>, List<CallType&, const From_&>> {
    static constexpr bool valid = RecoveryPoint<From_>;
    static constexpr bool keyed = std::same_as<CallType, KeyedCall>;
    static constexpr bool routed = std::same_as<CallType, RoutedCall>;
    static constexpr bool tries_next = (is_try_next<R> || ...);
    using From = From_;
    using Results = Kept<R...>;
};

// An inquiry; `valid` says whether a member function has its form, not that it fits its call.
template <class Result, class Parameters>
struct InquirySignature {
    static constexpr bool valid = false;
    using From = void;
    using Results = List<>;
};
template <class... R, class From_>
struct InquirySignature<Inquiry<R...>, List<InquiryCall&, const From_&>> {
    static constexpr bool valid = true;
    using From = From_;
    using Results = List<R...>;
};

template <class Result, class Parameters>
struct RouteSignature {
    static constexpr bool valid = false;
    using From = void;
};
template <class From_>
struct RouteSignature<Routing, List<const From_&>> {
    static constexpr bool valid = RecoveryPoint<From_>;
    using From = From_;
};

template <class Result_, class Parameters>
struct KeepSignature {
    static constexpr bool valid = false;
    static constexpr bool may_refuse = false;
    using From = void;
    using Result = void;
    using To = List<>;
};
template <class... To_, class From_, class Result_>
struct KeepSignature<Next<To_...>, List<Tx&, const From_&, const Result_&>> {
    static constexpr bool valid = true;
    static constexpr bool may_refuse = refuses<To_...>;
    using From = From_;
    using Result = Result_;
    using To = Points<To_...>;
};

template <class T>
using AtomicOf = AtomicSignature<typename Member<T>::Result, typename Member<T>::Parameters>;
template <class T>
using CallOf = CallSignature<typename Member<T>::Result, typename Member<T>::Parameters>;
template <class T>
using KeepOf = KeepSignature<typename Member<T>::Result, typename Member<T>::Parameters>;
template <class T>
using InquiryOf = InquirySignature<typename Member<T>::Result, typename Member<T>::Parameters>;
template <class T>
using RouteOf = RouteSignature<typename Member<T>::Result, typename Member<T>::Parameters>;

template <class P>
inline constexpr bool is_started = false;
template <class R>
inline constexpr bool is_started<Started<R>> = true;

template <class T, class... Ts>
inline constexpr std::size_t count_of = ((std::same_as<T, Ts> ? 1 : 0) + ... + 0);

// The index of T among Ts; their number if it is missing.
template <class T, class... Ts>
constexpr std::size_t index_of() {
    std::size_t at = 0;
    bool found = false;
    ((found = found || std::same_as<T, Ts>, at += found ? 0 : 1), ...);
    return at;
}

template <std::size_t N>
constexpr bool all_different(const std::array<std::string_view, N>& names) {
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = i + 1; j < N; ++j)
            if (names[i] == names[j]) return false;
    return true;
}

// The members among F that have a form, as a tuple.
template <auto F, bool Has>
constexpr auto tuple_if() {
    if constexpr (Has)
        return std::tuple{F};
    else
        return std::tuple{};
}

// What Foreign and Routed have in common: a call, its keepers, and an inquiry if there is one.
template <auto Run, auto... Rest>
struct CallStep {
    static_assert(
        CallOf<decltype(Run)>::valid,
        "pawl: a foreign call is a member function Outcome<Results...> f(Call&, const Point&), "
        "with KeyedCall& if it is "
        "safe_with_key; it takes no transaction, and its results are written by keepers"
    );
    static_assert(
        ((KeepOf<decltype(Rest)>::valid || InquiryOf<decltype(Rest)>::valid) && ...),
        "pawl: a keeper is a member function Next<Points...> f(Tx&, const Point&, const Result&), "
        "and an inquiry is Inquiry<Results...> f(InquiryCall&, const Point&)"
    );
    static_assert(
        !(KeepOf<decltype(Rest)>::may_refuse || ...),
        "pawl: a keeper can't refuse, as that would undo the record of a call that was made: it "
        "ends a request with pawl::answer(response)"
    );
    static_assert(
        (std::size_t{InquiryOf<decltype(Rest)>::valid} + ... + 0) <= 1,
        "pawl: a foreign call has at most one inquiry"
    );
    using Form = CallOf<decltype(Run)>;
    using From = typename Form::From;
    using To = typename Join<typename KeepOf<decltype(Rest)>::To...>::type;
    static constexpr bool foreign = true;
    static constexpr bool may_refuse = false;
    static constexpr auto run = Run;
    static constexpr auto keepers =
        std::tuple_cat(tuple_if<Rest, KeepOf<decltype(Rest)>::valid>()...);
    static constexpr auto inquiry =
        std::tuple_cat(tuple_if<Rest, InquiryOf<decltype(Rest)>::valid>()...);

    static_assert(
        ((!KeepOf<decltype(Rest)>::valid ||
          std::same_as<typename KeepOf<decltype(Rest)>::From, From>)&&...),
        "pawl: a keeper starts from the same recovery point as its call"
    );
    static_assert(
        ((!InquiryOf<decltype(Rest)>::valid ||
          std::same_as<typename InquiryOf<decltype(Rest)>::From, From>)&&...),
        "pawl: an inquiry starts from the same recovery point as its call"
    );
    template <class... R>
    static constexpr bool kept(List<R...>) {
        return ((count_of<R, typename KeepOf<decltype(Rest)>::Result...> == 1) && ...) &&
               sizeof...(R) == std::tuple_size_v<decltype(keepers)> && sizeof...(R) > 0;
    }
    static_assert(
        kept(typename Form::Results{}),
        "pawl: each result of a foreign call needs exactly one keeper"
    );
    template <class... R, class... Found>
    static constexpr bool known(List<R...>, List<Found...>) {
        return ((count_of<Found, R...> == 1) && ...);
    }
    static_assert(
        (known(typename Form::Results{}, typename InquiryOf<decltype(Rest)>::Results{}) && ...),
        "pawl: an inquiry finds results of its call: Inquiry<Results...> with the Results of its "
        "Outcome"
    );
};

}  // namespace pawl::detail
