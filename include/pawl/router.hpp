#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/session.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A foreign call to one of several providers. docs/howto/money.md
//
// The provider is chosen and committed before the call, and every repeat of the call goes to it and
// to no other: after a restart, a deploy, or another order of the list. If the list does not have
// it any more, the request goes to the attention list (PAWL0018). The next provider is tried only
// after proof that this one did nothing and never will:
//
//   Retry                 while no earlier try may have reached the provider
//   TryNext               the provider's own refusal, if it remembers refusals or was asked once
//   NotFound              an inquiry, later than `final_after`
//
// The next provider's call has its own key. A choice is the provider's name and our account there:
// never give either to another one.
namespace pawl {

// What a provider promises, and which payments it gets.
struct Provider {
    std::string name{};     // "stripe"
    std::string account{};  // Our account there: "acct_1".

    // safe_with_key: it takes our key. never: it has no keys, so a call in doubt is not repeated.
    Repeat again{Repeat::safe_with_key};
    std::size_t key_digits{64};           // How much of our key it takes: 32 to 64.
    std::chrono::hours key_lifetime{20};  // How long it knows our keys.
    // Whether a repeat under the key of a refused call is refused, too. If not, a refusal proves
    // nothing while an earlier try may still arrive.
    bool remembers_refusals{true};
    // Whether the step's inquiry can ask it: by our key, or by a reference that we sent.
    bool has_inquiry{true};
    // An unanswered call is repeated for so long; then the step's inquiry is made, and may lead to
    // the next provider. nullopt: repeated as long as the provider knows the key.
    std::optional<std::chrono::seconds> ask_after{};

    // Its share of the payments, in relation to the others. 0: only if the others can't be used.
    double share{1};
    std::int64_t amount_min{0};  // Minor units: cents.
    std::int64_t amount_max{std::numeric_limits<std::int64_t>::max()};
    std::vector<std::string> currencies{};  // Empty: every currency.

    // Stored before a call, and shown to operators: "stripe acct_1".
    std::string target() const;
};

// What the choice depends on. Taken from a recovery point, as all that a call sends.
struct Payment {
    std::int64_t amount{};
    std::string currency;
};

struct RouterOptions {
    std::vector<Provider> providers{};  // In the order of preference, if shares do not decide.
    // After so many unanswered calls in a row a provider is chosen for no new payment, for
    // `breaker_first`, then for one; the time doubles after each failure. 0: never.
    int breaker_failures{10};
    std::chrono::milliseconds breaker_first{1'000};
    std::chrono::milliseconds breaker_wait_max{30'000};

    std::optional<std::string> problem() const;  // Names the option, the value and the limit.
};

// A provider as this process sees it.
struct ProviderHealth {
    std::string target;
    int failures{};                         // In a row.
    std::optional<TimePoint> down_since{};  // Not chosen, unless no other can be.
    std::string last_error{};
};

// Thread-safe. Outlives the operations that use it.
class Router {
public:
    // Throws std::invalid_argument if the options have a problem().
    explicit Router(RouterOptions options);
    ~Router();

    // Whether any provider takes such a payment. A phase asks before it leads to the call.
    bool takes(const Payment& payment) const;
    const std::vector<Provider>& providers() const;
    std::vector<ProviderHealth> health() const;

    struct Impl;
    Impl& impl() const { return *impl_; }  // For the engine.

private:
    std::unique_ptr<Impl> impl_;
};

// What a Routed step's first function returns: who may be called, and what for.
struct Routing {
    Router& router;
    Payment payment;
};

// A call to the provider that was chosen. For one without keys use Client::send_once().
class RoutedCall final : public KeyedCall {
public:
    const Provider& provider() const { return provider_; }

private:
    friend struct detail::TxFactory;
    friend class testing::FakeRoutedCall;
    RoutedCall(CallKey key, const Provider& provider, std::stop_token stop)
        : KeyedCall{std::move(key), std::move(stop)}, provider_{provider} {}
    ~RoutedCall() = default;

    const Provider& provider_;
};

// The provider has refused, finally and by contract, and another one may accept: a soft decline. If
// no other provider is left, `refusal` is the call's result.
template <class R>
struct TryNext {
    R refusal;
};
template <class R>
TryNext(R) -> TryNext<R>;

}  // namespace pawl
