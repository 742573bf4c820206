#include "src/http/key_progress_query.hpp"

#include <pawl/json.hpp>

#include "src/engine/key_row.hpp"
#include "src/http/key_header.hpp"
#include "src/http/problem.hpp"
#include "store/statements.hpp"

namespace pawl::http {

namespace {

struct State {
    std::string state;
};

Response not_found() {
    auto reply = refusal(404, "You have no such key.");
    return {
        .status = 404, .body = std::move(reply.body), .content_type = "application/problem+json"};
}

}  // namespace

Response KeyProgressQuery::answer(Snapshot& read, const Asked<Request>& at) {
    const auto key = key_of(at.request.key);
    const auto* text = std::get_if<std::string>(&key);
    if (text == nullptr) return not_found();
    // A key of the whole tenant has no account in its hash.
    const auto own = engine::key_hash(engine::key_identity(Scope::account, at.principal, *text));
    const auto shared = engine::key_hash(engine::key_identity(Scope::tenant, at.principal, *text));
    const auto state = query_maybe<std::string>(read, sql::find_key_progress, own, shared);
    if (!state) return not_found();
    return respond(200, State{*state});
}

}  // namespace pawl::http
