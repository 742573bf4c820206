#include "src/engine/attempt.hpp"

namespace pawl::engine {

using Woken = Waiters::Woken;
using Parked = Waiters::Parked;

// Another process has the key. Nothing of this attempt is written, so it can begin anew at its
// claim as often as it takes. The completer does not wait: it comes again by itself.
void Attempt::wait_or_refuse() {
    const auto longest = operation_->in_progress.wait;
    if (longest.count() == 0 || !request_.request)
        return end(Rejection{.why = Reason::in_progress});
    const auto now = engine_.clock().steady();
    if (!waits_until_) waits_until_ = now + longest;
    while (now >= *waits_until_)
        if (!engine_.next_waits(hash_, on_answer_, *waits_until_)) return;
    const auto wake = [self = shared_from_this()](Woken woken) { self->on_woken(woken); };
    switch (engine_.waiters().park(hash_, *waits_until_, wake)) {
        case Parked::waits:
            return;  // It may be at work again already.
        case Parked::too_many:
            return end(Rejection{.why = Reason::in_progress});
        case Parked::stopping:
            return end(Rejection{.why = Reason::stopping});
    }
}

void Attempt::on_woken(Woken woken) {
    switch (woken) {
        case Woken::retry_claim:
            return claim();
        case Woken::too_late:
            if (engine_.next_waits(hash_, on_answer_, *waits_until_)) wait_or_refuse();
            return;
        case Woken::stopping:
            return end(Rejection{.why = Reason::stopping});
    }
}

}  // namespace pawl::engine
