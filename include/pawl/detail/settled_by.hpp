#pragma once

#include <pawl/detail/near_names.hpp>
#include <pawl/detail/steps_check.hpp>
#include <pawl/provider_event.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

// The rule by which an event of a provider settles a call, without its types.
namespace pawl::detail {

// A result, and its index among the call's results. nullopt: the event proves nothing.
using SettledResult = std::optional<std::pair<std::size_t, std::shared_ptr<const void>>>;
using SettledByRule = SettledResult (*)(const void* op, const void* point, const ProviderEvent&);

template <class Op, class Point>
concept CallsSettledBy = requires(const Op& op, const Point& at, const ProviderEvent& event) {
    op.settled_by(at, event);
};

template <class Op, class Point, class... R>
SettledResult settled_by(const void* op, const void* point, const ProviderEvent& event) {
    auto proven = static_cast<const Op*>(op)->settled_by(*static_cast<const Point*>(point), event);
    constexpr bool is_result = (std::same_as<decltype(proven), std::optional<R>> || ...);
    static_assert(
        is_result,
        "pawl: settled_by is a member function std::optional<Result> settled_by(const Point&, "
        "const "
        "ProviderEvent&) const, and Result is one of the results of the call from Point"
    );
    if constexpr (is_result) {
        using Result = typename decltype(proven)::value_type;
        if (proven)
            return std::pair{
                index_of<Result, R...>(), std::make_shared<const Result>(std::move(*proven))};
    }
    return std::nullopt;
}

// nullptr: the operation has none for this point.
template <class Op, class Point, class... R>
constexpr SettledByRule settled_by_rule() {
    if constexpr (CallsSettledBy<Op, Point>)
        return &settled_by<Op, Point, R...>;
    else
        return nullptr;
}

// It must be for a call of this operation; a base class may have others.
template <class Op, class... S>
constexpr bool settled_by_is_of_use(const std::tuple<S...>*) {
    if constexpr (((S::foreign && CallsSettledBy<Op, typename S::From>) || ...))
        return true;
    else if constexpr (requires { &Op::settled_by; })
        return !std::same_as<typename Member<decltype(&Op::settled_by)>::Class, Op>;
    else
        return !has_settled_by<Op>;
}

}  // namespace pawl::detail
