#include "src/page/reveal.hpp"

#include <pawl/detail/rows.hpp>

#include "src/engine/engine.hpp"
#include "src/page/key_views.hpp"
#include "src/page/parts.hpp"
#include "src/page/work_views.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace pawl::page {

namespace {

using boost::json::value;

void audit(const Asked& asked, std::optional<std::int64_t> key_id, std::string detail) {
    store::write_now(asked.service.engine().store(), [&](store::Session& session) {
        detail::execute_statement(
            session,
            sql::insert_audit,
            session.now(),
            asked.who.name,
            std::string{"reveal"},
            key_id,
            detail
        );
    });
}

// The request that staged it.
std::optional<std::int64_t> key_of_job(const value& job) {
    const auto& id = job.at("key_id");
    return id.is_null() ? std::nullopt : std::optional{id.to_number<std::int64_t>()};
}

Done shown(value data, std::string back) {
    auto content = Html{facts(data.get_object()), element("p", link(std::move(back), "Back"))};
    return {
        .data = std::move(data),
        .message = {},
        .next = {},
        .shown = std::move(content),
        .title = "Revealed"};
}

}  // namespace

void audit_reveal(const Asked& asked, std::string detail) {
    audit(asked, asked.number(), std::move(detail));
}

Done reveal_key(const Asked& asked) {
    auto key = read_revealed_key(asked);
    audit_reveal(asked, "key");
    return shown(std::move(key), "/keys/" + asked.id);
}

Done reveal_entry(const Asked& asked) {
    auto entry = read_revealed_entry(asked);
    audit_reveal(asked, "attention");
    return shown(std::move(entry), "/attention/" + asked.id);
}

Done reveal_job(const Asked& asked) {
    auto job = read_revealed_job(asked);
    audit(asked, key_of_job(job), "job " + asked.id);
    return shown(std::move(job), "/jobs/" + asked.id);
}

Done reveal_dead_letter(const Asked& asked) {
    auto letter = read_revealed_dead_letter(asked);
    audit(asked, key_of_job(letter), "dead letter " + asked.id);
    return shown(std::move(letter), "/dead/" + asked.id);
}

}  // namespace pawl::page
