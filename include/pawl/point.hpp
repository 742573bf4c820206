#pragma once

#include <pawl/detail/never.hpp>
#include <pawl/principal.hpp>
#include <pawl/response.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace pawl {

// A recovery point: a stored name, and the ids and amounts needed to go on from it. The database
// stores `name` and the fields as JSON: after a release, no name or field may be changed or reused
// (docs/howto/deploys.md).
template <class P>
concept RecoveryPoint = std::is_aggregate_v<P> && std::copyable<P> && requires {
    { P::name } -> std::convertible_to<std::string_view>;
    requires(!std::string_view{P::name}.empty() && std::string_view{P::name}.size() <= 50);
    requires(std::string_view{P::name} != "finished");
};

// Where every operation begins. Stored with the key, so that the completer has it, too.
template <class Request_>
struct Started {
    static constexpr std::string_view name = "started";
    using Request = Request_;
    // 0 for an operation without a key. Store it without a foreign key constraint: the row is
    // temporary.
    std::int64_t key_id{};
    Principal principal{};
    std::string origin{};  // The client's address.
    std::string key{};     // The client's Idempotency-Key; empty: none.
    Request request{};
};

namespace detail {

// Checks RecoveryPoint with a message for each mistake.
template <class P>
constexpr bool check_point() {
    static_assert(
        std::is_aggregate_v<P> && std::copyable<P>,
        "pawl: a recovery point is a plain struct of values: no constructor, no private member, no "
        "base class"
    );
    static_assert(
        requires {
            { P::name } -> std::convertible_to<std::string_view>;
        },
        "pawl: a recovery point has a `static constexpr std::string_view name`, under which it is "
        "stored"
    );
    if constexpr (requires {
                      { P::name } -> std::convertible_to<std::string_view>;
                  }) {
        constexpr std::string_view name = P::name;
        static_assert(
            !name.empty() && name.size() <= 50,
            "pawl: the name of a recovery point has 1 to 50 characters"
        );
        static_assert(
            name != "finished", "pawl: a recovery point can't be named 'finished': that is the end"
        );
    }
    return true;
}

template <class Target>
constexpr bool check_target() {
    if constexpr (std::same_as<Target, Refusal>)
        return true;
    else
        return check_point<Target>();
}

}  // namespace detail

// Where a step leads: to one of the named points, or to the end of the request by an Answer, or by
// a Refusal if that is one of the targets.
template <class... To>
class [[nodiscard]] Next {
    static_assert((detail::check_target<To>() && ... && true));

public:
    Next(Answer answer) : where_{std::move(answer)} {}
    template <class P>
    requires(std::same_as<P, To> || ...) Next(P point) : where_{std::move(point)} {}

    // Deliberately unusable: they give the compile errors a readable message.
    template <std::same_as<Response> R>
    Next(R) {
        static_assert(
            detail::never<R>,
            "pawl: a step ends a request with pawl::answer(response), which keeps what the step "
            "wrote, or with pawl::refuse(response), which rolls it back"
        );
    }
    template <std::same_as<Refusal> R>
    requires(!(std::same_as<R, To> || ...)) Next(R) {
        static_assert(
            detail::never<R>,
            "pawl: a step that may refuse says so in its type: Next<..., pawl::Refusal>"
        );
    }

    const std::variant<Answer, To...>& where() const { return where_; }

private:
    std::variant<Answer, To...> where_;
};
using Finish = Next<>;

}  // namespace pawl
