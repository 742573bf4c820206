#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/session.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

// A call in doubt is asked about before a person is. docs/howto/money.md
namespace pawl {

struct Provider;

// A Call to ask a provider what became of an earlier call. It must change nothing there. The
// provider may be asked again and again, also by two servers at once.
class InquiryCall final : public Call {
public:
    // The key under which the call was sent, as it was sent. Without meaning for Repeat::never.
    const CallKey& key() const { return key_; }
    // When the call was first made, at the earliest.
    TimePoint called_at() const { return called_at_; }
    // Of a Routed call: who was called. nullptr otherwise.
    const Provider* provider() const { return provider_; }

private:
    friend struct detail::TxFactory;
    friend class testing::FakeInquiry;
    InquiryCall(CallKey key, TimePoint called_at, const Provider* provider, std::stop_token stop)
        : Call{std::move(stop)}, key_{std::move(key)}, called_at_{called_at}, provider_{provider} {}
    ~InquiryCall() = default;

    CallKey key_;
    TimePoint called_at_;
    const Provider* provider_;
};

// The provider does not know the call. A copy of it may still be on its way, or be worked on: after
// `final_after` the provider would know it or has refused it, as its contract says, measured from
// our first inquiry (no call is made after that). Then the call counts as not made and is made
// anew, under another key. nullopt: it is never final, and a person decides.
struct NotFound {
    std::optional<std::chrono::seconds> final_after{};
    std::string why{};  // For operators, as below.
};
// The provider gave no answer, or none that decides. It is asked again later.
struct Undecided {
    std::string why{};
};

// How an inquiry ended: with one of the call's results, NotFound, Undecided, or Stuck: the provider
// found another thing than the call asks for, such as a payment of another amount, and a person
// decides at once. An exception counts as Undecided.
template <class... Results>
class [[nodiscard]] Inquiry {
public:
    template <class R>
    static constexpr bool is_end = (std::same_as<R, Results> || ...) || std::same_as<R, NotFound> ||
                                   std::same_as<R, Undecided> || std::same_as<R, Stuck>;
    template <class R>
    requires is_end<R> Inquiry(R result) : value_{std::move(result)} {}

    const std::variant<NotFound, Undecided, Stuck, Results...>& value() const { return value_; }

private:
    std::variant<NotFound, Undecided, Stuck, Results...> value_;
};

}  // namespace pawl
