#include "src/engine/answer.hpp"

namespace pawl::engine {

std::string_view name_of(Reason reason) {
    switch (reason) {
        case Reason::in_progress:
            return "in-progress";
        case Reason::key_reused:
            return "key-reused";
        case Reason::key_expired:
            return "key-expired";
        case Reason::internal:
            return "internal";
        case Reason::provider_unavailable:
            return "provider-unavailable";
        case Reason::not_recorded:
            return "not-recorded";
        case Reason::store_unavailable:
            return "store-unavailable";
        case Reason::contention:
            return "contention";
        case Reason::phase_deadline:
            return "phase-deadline";
        case Reason::overloaded:
            return "overloaded";
        case Reason::stranded:
            return "stranded";
        case Reason::other_server:
            return "other-server";
        case Reason::needs_attention:
            return "needs-attention";
        case Reason::on_hold:
            return "on-hold";
        case Reason::stopping:
            break;
    }
    return "stopping";
}

int status_of(Reason reason) {
    switch (reason) {
        case Reason::in_progress:
            return 409;
        case Reason::key_reused:
            return 422;
        case Reason::key_expired:
            return 410;
        case Reason::internal:
            return 500;
        case Reason::needs_attention:
            return 502;
        default:
            return 503;
    }
}

bool may_succeed_later(Reason reason) {
    return reason != Reason::key_reused && reason != Reason::key_expired &&
           reason != Reason::needs_attention;
}

}  // namespace pawl::engine
