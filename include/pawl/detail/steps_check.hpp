#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/fixed_string.hpp>
#include <pawl/point.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
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
template <class... R, class CallType, class From_>
requires(std::same_as<CallType, Call> || std::same_as<CallType, KeyedCall>) struct CallSignature<
    Outcome<R...>,
    List<CallType&, const From_&>> {
    static constexpr bool valid = RecoveryPoint<From_>;
    static constexpr bool keyed = std::same_as<CallType, KeyedCall>;
    using From = From_;
    using Results = List<R...>;
};

template <class Result, class Parameters>
struct KeepSignature {
    static constexpr bool valid = false;
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

}  // namespace pawl::detail
