#pragma once

#include <pawl/detail/near_names.hpp>
#include <pawl/detail/session.hpp>
#include <pawl/isolation.hpp>
#include <pawl/renamed_points.hpp>
#include <pawl/steps.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pawl {

using namespace std::chrono_literals;

// An operation is a class with a name, its steps, and up to five optional members:
//
//   static constexpr std::string_view name = "book_ride";
//   using Flow = pawl::Steps<...>;
//   static constexpr pawl::Settings settings{...};   // 1. If the defaults below do not fit.
//
// 2. A phase's response is stored, for all who have the key. To refuse a caller, or a request that
// is too early, an operation has a member function that is called for each request and each repeat,
// before the key is queried:
//
//   std::optional<Response> before_key(
//       Snapshot& read, const Asked<Request>& at, std::string_view key);
//
// Its response is not stored. nullopt: continue with the request. So a key with Scope::tenant is
// replayed to, and claimed by, only callers that the operation admits.
//
// 3. For each point from which a foreign call starts, a member function may name the call's target:
// the provider and our account there, always with the same name:
//
//   std::string call_target(const Point& at) const;
//
// The name is stored before the call is made. A repeat that would go to another provider or
// account, for example after a restart with another URL, is not made: the request goes to the
// attention list (PAWL0018). The function runs in the transaction: it must be quick, must not
// block, and must not return a secret. Without it such a change goes unnoticed; the start of the
// service logs which calls have none.
//
// 4. `abandon`, see Abandoned below.
//
// 5. `settled_by`, see ProviderEvent (provider_event.hpp): how a webhook settles a call in doubt.
//
// None of the five is silently ignored: a member of another form does not compile, nor does one
// whose name differs by a missing, an added or a swapped letter (detail/near_names.hpp). In a final
// class only public members are seen.
enum class KeyRule {
    required,  // No key: 400 key-missing.
    // No key: one is generated, so that a crashed request is still completed; nobody can repeat it.
    optional,
    none  // PUT or DELETE by natural key: no key row, one transaction, no foreign call.
};
// tenant: for keys of an entity, such as payment-1234-refund.
enum class Scope { account, tenant };

// What a repeat gets while the first request runs: 409, or it waits for at most this long, on
// whichever server the first runs. If that server dies, the repeat goes on with the request itself.
struct InProgress {
    std::chrono::milliseconds wait{0};
};
inline constexpr InProgress conflict{};
constexpr InProgress wait(std::chrono::milliseconds longest) {
    return {longest};
}

// How long a settled key is kept; nullopt: forever.
using Keep = std::optional<std::chrono::hours>;
inline constexpr Keep for_ever{};

struct Settings {
    KeyRule key{KeyRule::required};
    Scope scope{Scope::account};
    Isolation isolation{Isolation::repeatable_read};
    std::optional<Keep> keep{};  // nullopt: ServiceOptions::keep_keys.
    InProgress in_progress{conflict};
    bool re_execute{false};                        // False: an expired key is 410.
    std::chrono::hours provider_key_lifetime{20};  // How long a provider knows our keys.
    // How long a provider is asked about a call in doubt before a person is. Longer if the answer
    // is final only later (NotFound::final_after).
    std::chrono::minutes ask_for{60};
};

// Passed to `abandon` when an operator has stopped the request for good (`settle --as give-up`).
// Its response is the client's final answer. It must not say that nothing was done if a call may
// have been made.
//
//   Finish abandon(Tx& tx, const Point& at, const Abandoned& why);
struct Abandoned {
    // When the call from this point may first have been made; nullopt: provably none was made.
    std::optional<TimePoint> called_at{};
};

namespace detail {

template <class Op>
constexpr Settings settings_of() {
    constexpr bool are_right = requires {
        requires std::same_as<decltype(Op::settings), const Settings>;
    };
    static_assert(
        are_right || !has_settings<Op>,
        "pawl: the settings of an operation are public: `static constexpr pawl::Settings "
        "settings{...}`"
    );
    if constexpr (are_right)
        return Op::settings;
    else
        return {};
}

// A setting that stands alone in the class.
template <class Op>
constexpr bool has_loose_setting = requires {
    requires std::same_as<decltype(Op::key), const KeyRule>;
}
|| requires {
    requires std::same_as<decltype(Op::scope), const Scope>;
}
|| requires {
    requires std::same_as<decltype(Op::isolation), const Isolation>;
}
|| requires {
    requires std::same_as<decltype(Op::keep), const Keep>;
}
|| requires {
    requires std::same_as<decltype(Op::in_progress), const InProgress>;
}
|| requires {
    requires std::same_as<decltype(Op::re_execute), const bool>;
}
|| requires {
    requires std::same_as<decltype(Op::provider_key_lifetime), const std::chrono::hours>;
}
|| requires {
    requires std::same_as<decltype(Op::ask_for), const std::chrono::minutes>;
};

template <class... S>
constexpr bool any_foreign(const std::tuple<S...>*) {
    return (S::foreign || ...);
}

template <class Op>
constexpr bool check_operation() {
    using Flow = typename Op::Flow;
    static_assert(
        !std::string_view{Op::name}.empty() && std::string_view{Op::name}.size() <= 50,
        "pawl: the name of an operation has 1 to 50 characters"
    );
    check_near_names<Op>();
    static_assert(
        !has_loose_setting<Op>,
        "pawl: a setting outside of `static constexpr pawl::Settings settings{...}` would be "
        "ignored: write it there"
    );
    static_assert(
        settings_of<Op>().key != KeyRule::none ||
            !any_foreign(static_cast<const typename Flow::All*>(nullptr)),
        "pawl: an operation without a key has no foreign call: nothing would remember that it was "
        "made"
    );
    return Flow::count > 0;
}

}  // namespace detail

template <class Op>
concept Operation = requires {
    { Op::name } -> std::convertible_to<std::string_view>;
    typename Op::Flow;
    requires detail::check_operation<Op>();
};

}  // namespace pawl
