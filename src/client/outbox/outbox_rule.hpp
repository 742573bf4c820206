#pragma once

#include <pawl/outbox.hpp>

#include <chrono>
#include <variant>

namespace pawl::client {

struct FinishIt {
    bool gave_up{};
};
struct PutOff {
    std::chrono::milliseconds wait{};
    bool undone{};  // This send had no effect that the other server knows of.
};
using AfterSending = std::variant<FinishIt, PutOff>;

// Whether the request may be sent again. `age`: from the first send that the other server may know
// to the last possible try of this one.
bool may_send_again(const OutboxOptions& options, std::chrono::milliseconds age) noexcept;

// What to do with a request after the client's last try; an answer that a repeat could change is
// not final. `age`: since the first send; dice in [0, 1).
AfterSending decide_after_sending(
    const OutboxOptions& options,
    const ClientResult& end,
    int attempts,
    std::chrono::milliseconds age,
    double dice
) noexcept;

}  // namespace pawl::client
