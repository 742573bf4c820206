#pragma once

#include <pawl/detail/session.hpp>
#include <pawl/isolation.hpp>
#include <pawl/steps.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pawl {

using namespace std::chrono_literals;

// Settings of an operation: `static constexpr` members of its class.
//
//   key              KeyRule       required
//   scope            Scope         account
//   isolation        Isolation     repeatable_read
//   keep             Keep          as the service says; 72 h
//   in_progress      InProgress    conflict
//   re_execute       bool          false: an expired key is 410
//   provider_memory  hours         20; how long a provider knows our keys
//
// What a phase answers is kept, for everyone who has the key. Who may not ask at all, and what is
// only not to be had yet, is for a member function that is asked before the key, of each request
// and each repeat of it:
//
//   std::optional<Response> before_key(
//       Snapshot& read, const Asked<Request>& at, std::string_view key);
//
// Its answer is not kept, and tells nothing of one that is; nothing: the request goes on. So a key
// with scope = tenant answers only those whom the operation lets in, and is taken by nobody else.
// A before_key that can't be called so (private, of another form) does not compile, unless its
// class is final: of such a class only public members are seen.
//
// Who is called from a point is for a member function, for each point that a foreign call starts
// from. A name of the provider and of the account there, the same for as long as both are:
//
//   std::string call_target(const Point& at) const;
//
// It is stored before the call is made. A repeat that would go to another provider or account, as
// after a restart with another URL, is not made: the request goes to the attention list (PAWL0018).
// It is asked in the transaction: quick, no waiting, and never a secret. Without it nobody notices;
// the start of the service logs which calls have none.
enum class KeyRule {
    required,  // No key: 400 key-missing.
    optional,  // No key: one is made, so that a crash is still completed; nobody can repeat the
               // request.
    none       // PUT or DELETE by natural key: no key row, one transaction, no foreign call.
};
enum class Scope {
    account,
    tenant
};  // tenant: for keys of an entity, such as payment-1234-refund.

// What a repeat gets while the first is at work: 409, or it waits for at most this long, on
// whichever server the first is at work; where that server dies it goes on with the request itself.
struct InProgress {
    std::chrono::milliseconds wait{0};
};
inline constexpr InProgress conflict{};
constexpr InProgress wait(std::chrono::milliseconds longest) {
    return {longest};
}

// What `abandon` is told: an operator ended the request for good (`settle --as give-up`). Its
// response is the customer's final answer, and may not say that nothing was done where a call may
// have been made.
//
//   Finish abandon(Tx& tx, const Point& at, const Abandoned& why);
struct Abandoned {
    // When the call from this point may have been made first; nullopt: no call was made, with
    // proof.
    std::optional<TimePoint> called_at{};
};

// How long a settled key is kept; nothing means for ever.
using Keep = std::optional<std::chrono::hours>;
inline constexpr Keep for_ever{};

namespace detail {

// What an operation gives for a setting, as the setting's own type.
template <class Setting, class Given>
constexpr Setting setting(const Given& given) {
    static_assert(
        std::is_convertible_v<const Given&, Setting>,
        "pawl: a setting of this operation has another type than pawl/operation.hpp says"
    );
    if constexpr (std::is_convertible_v<const Given&, Setting>)
        return given;
    else
        return {};
}

template <class Op>
constexpr KeyRule key_rule() {
    if constexpr (requires { Op::key; }) return setting<KeyRule>(Op::key);
    return KeyRule::required;
}

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
    static_assert(
        key_rule<Op>() != KeyRule::none ||
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
