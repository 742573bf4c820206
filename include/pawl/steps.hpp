#pragma once

#include <pawl/detail/steps_check.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pawl {

// A step that writes our own data in one transaction: `Next<Points...> f(Tx&, const Point&)`, with
// Refusal among the points if it may undo its writes and end the request. It may run again, so it
// must write only through its Tx.
template <auto Run>
struct Atomic {
    static_assert(
        detail::AtomicOf<decltype(Run)>::valid,
        "pawl: an atomic phase is a member function Next<Points...> f(Tx&, const Point&), and its "
        "points are aggregates "
        "with a static name of 1 to 50 characters that is not 'finished'"
    );
    using From = typename detail::AtomicOf<decltype(Run)>::From;
    using To = typename detail::AtomicOf<decltype(Run)>::To;
    static constexpr bool foreign = false;
    static constexpr bool routed = false;
    static constexpr bool may_refuse = detail::AtomicOf<decltype(Run)>::may_refuse;
    static constexpr auto run = Run;
};

// A step that changes something outside our database, and the keepers that record each of its
// results: `Outcome<Results...> f(Call& or KeyedCall&, const Point&)`, `Next<Points...> f(Tx&,
// const Point&, const Result&)`.
//
// A repeated call must send the same bytes, even after the database was restored from a backup and
// the request runs again from its beginning. So the body must not contain values that a restore
// generates anew: row ids, times, random numbers. The call key would be the same with another
// body, which providers refuse. Send values from the request, from rows that the request only
// reads, or the client's key (`Started::key`).
//
// Among the keepers may stand an inquiry: `Inquiry<Results...> f(InquiryCall&, const Point&)`. It
// asks the provider what became of a call in doubt, before a person is asked (inquiry.hpp).
template <Repeat Again, auto Run, auto... KeepOrInquire>
struct Foreign : detail::CallStep<Run, KeepOrInquire...> {
    using Form = detail::CallOf<decltype(Run)>;
    static constexpr bool routed = false;
    static constexpr Repeat again = Again;
    static_assert(
        (Again == Repeat::safe_with_key) == Form::keyed,
        "pawl: a call that is safe_with_key takes a KeyedCall&, and no other call does"
    );
    static_assert(
        !Form::tries_next, "pawl: only a Routed call, which has several providers, may TryNext"
    );
};

// A foreign call to one of several providers (router.hpp): `Routing f(const Point&)` names them and
// the payment, `Outcome<Results...> f(RoutedCall&, const Point&)` is the call to the chosen one.
// The first runs in a transaction: it must be quick and must not block.
template <auto Route, auto Run, auto... KeepOrInquire>
struct Routed : detail::CallStep<Run, KeepOrInquire...> {
    using Form = detail::CallOf<decltype(Run)>;
    static constexpr bool routed = true;
    static constexpr Repeat again = Repeat::safe_with_key;  // Unless the provider says otherwise.
    static constexpr auto route = Route;
    static_assert(Form::routed, "pawl: the call of a Routed step takes a RoutedCall&");
    static_assert(
        std::same_as<typename detail::RouteOf<decltype(Route)>::From, typename Form::From>,
        "pawl: a Routed step begins with a member function Routing f(const Point&), of the same "
        "recovery point as its call"
    );
};

// The whole operation, its steps in order. Checks that they only lead forward, without dead ends,
// one step for each point.
template <class... S>
struct Steps {
    static_assert(sizeof...(S) > 0, "pawl: an operation has at least one step");
    using All = std::tuple<S...>;
    using First = typename std::tuple_element_t<0, All>::From;
    static constexpr std::size_t count = sizeof...(S);

    template <class P>
    static constexpr std::size_t step_index = detail::index_of<P, typename S::From...>();

    static_assert(
        detail::is_started<First>, "pawl: the first step starts from pawl::Started<Request>"
    );
    static_assert(
        detail::all_different(std::array<std::string_view, sizeof...(S)>{S::From::name...}),
        "pawl: two steps start from the same recovery point, or two points share a name"
    );
    template <class From, class... To>
    static constexpr bool forward(detail::List<To...>) {
        return ((step_index<To> > step_index<From> && step_index<To> < sizeof...(S)) && ...);
    }
    static_assert(
        (forward<typename S::From>(typename S::To{}) && ...),
        "pawl: a step leads backwards, or to a point that no step starts from"
    );
    template <class P, class... To>
    static constexpr bool leads(detail::List<To...>) {
        return (std::same_as<P, To> || ...);
    }
    template <class P>
    static constexpr bool reached = (leads<P>(typename S::To{}) || ...);
    static_assert(
        ((std::same_as<typename S::From, First> || reached<typename S::From>)&&...),
        "pawl: no step leads to one of the recovery points"
    );
};

}  // namespace pawl
