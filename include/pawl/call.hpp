#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pawl {

// The idempotency key for a provider: 64 hex digits, the same for each try.
struct CallKey {
    std::string text;
    // Shortened to what a provider accepts; 32 digits (128 bits) are enough to be unique.
    std::string_view first(std::size_t digits) const {
        return std::string_view{text}.substr(0, digits);
    }
};

namespace detail {
struct TxFactory;
}
namespace testing {
class FakeCall;
class FakeInquiry;
class FakeRoutedCall;
}  // namespace testing

// What a provider's server said, whatever it means: for the time line of the key.
struct ProviderResponse {
    int status{};              // HTTP; 0: none.
    std::string request_id{};  // By which the provider finds the request, such as "req_1".
};

// Permission to reach the outside world. The engine makes one for each foreign call and each job,
// on a thread without a transaction. Clients (HTTP, mail) require it.
class Call {
public:
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // For clients, before they send: ends the process within a transaction, or when the call is
    // over.
    void assert_open() const;
    // The service is stopping. A client may give up, with Retry if it proves that nothing was sent.
    const std::stop_token& stop() const { return stop_; }
    // For clients, when what they send is about to leave, on any thread: false if the process was
    // paused for so long that another server may have the request, or a person has decided about
    // it. Then send nothing, and give up with Retry.
    const std::function<bool()>& may_send() const { return may_send_; }
    // For clients: shown to operators in the time line of the key. The last one counts.
    void note_response(ProviderResponse response) const { response_ = std::move(response); }
    const std::optional<ProviderResponse>& response() const { return response_; }
    // For clients: the headers of these names (W3C Trace Context), by which the provider's spans
    // hang under this call's. Empty: none are to be sent.
    const std::string& traceparent() const { return traceparent_; }
    const std::string& tracestate() const { return tracestate_; }

private:
    friend class KeyedCall;
    friend class InquiryCall;
    friend struct detail::TxFactory;
    friend class testing::FakeCall;
    explicit Call(std::stop_token stop);
    ~Call();

    std::stop_token stop_;
    std::function<bool()> may_send_{[] { return true; }};
    mutable std::optional<ProviderResponse> response_;
    std::string traceparent_;
    std::string tracestate_;
    bool open_{true};
};

// A Call that may be repeated under one key.
class KeyedCall : public Call {
public:
    const CallKey& key() const { return key_; }

private:
    friend class RoutedCall;
    friend struct detail::TxFactory;
    friend class testing::FakeCall;
    KeyedCall(CallKey key, std::stop_token stop) : Call{std::move(stop)}, key_{std::move(key)} {}
    ~KeyedCall() = default;

    CallKey key_;
};

enum class Repeat {
    safe,           // Idempotent by nature: call again.
    safe_with_key,  // Call again with our key, as long as the provider remembers keys.
    never           // Not idempotent: after a possible call, only a person can go on.
};

// How a call may end besides its named results. `why` is for operators: stored with the key, and
// logged.
struct Retry {  // The call certainly did nothing; it is tried again later.
    std::string why{};
};
struct InDoubt {  // It may have had an effect.
    std::string why{};
};
struct Stuck {  // The provider repeats a stored error; only a person can go on.
    std::string why{};
};

// How a foreign call ended. An exception from the call counts as InDoubt. Only a named result
// reaches a keeper, and only a keeper makes a response, so a temporary outage can't become the
// stored answer.
template <class... Results>
class [[nodiscard]] Outcome {
public:
    template <class R>
    requires((std::same_as<R, Results> || ...) || std::same_as<R, Retry> || std::same_as<R, InDoubt> || std::same_as<R, Stuck>)
        Outcome(R result)
        : value_{std::move(result)} {}

    const std::variant<Retry, InDoubt, Stuck, Results...>& value() const { return value_; }

private:
    std::variant<Retry, InDoubt, Stuck, Results...> value_;
};

}  // namespace pawl
