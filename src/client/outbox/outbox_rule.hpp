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
    bool undone{};  // Nothing that this sending has done is known to the other server.
};
using AfterSending = std::variant<FinishIt, PutOff>;

// Whether it may be sent again; `age`: since the first that the other server may know, until the
// last try now may end.
bool may_send_again(const OutboxOptions& options, std::chrono::milliseconds age) noexcept;

// What becomes of a request of an outbox after the client's last word: an answer that a repeat
// could change is none yet. `age`: since it was first sent; dice in [0, 1).
AfterSending decide_after_sending(
    const OutboxOptions& options,
    const ClientEnd& end,
    int attempts,
    std::chrono::milliseconds age,
    double dice
) noexcept;

}  // namespace pawl::client
