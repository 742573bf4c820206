#pragma once

#include <pawl/query.hpp>

#include <string>
#include <string_view>

namespace pawl::http {

// GET /idempotency-keys/{key}: how far a request has come, without its response. {"state":
// "started"}, the name of a recovery point, "on-hold", "needs-attention", "finished" or "expired";
// 404 if the caller has no such key.
class KeyProgressQuery {
public:
    static constexpr std::string_view name = "key_progress";
    struct Request {
        std::string key;
    };
    Response answer(Snapshot& read, const Asked<Request>& at);
};

}  // namespace pawl::http
