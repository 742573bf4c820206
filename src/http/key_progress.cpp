#include <pawl/key_progress.hpp>

#include "src/engine/key_row.hpp"
#include "src/http/key_header.hpp"

#include <utility>
#include <variant>

namespace pawl {

namespace {

std::optional<std::string> location_of(const Response& response) {
    for (const auto& header : response.headers)
        if (header.name == "Location") return header.value;
    return std::nullopt;
}

KeyProgress progress_of(engine::KeyRow row) {
    using State = KeyProgress::State;
    KeyProgress progress;
    progress.key_id = row.id;
    if (row.expired) {
        progress.state = State::expired;
        progress.status = row.outcome;
        progress.location = std::move(row.location);
        return progress;
    }
    progress.operation = std::move(row.operation);
    if (row.status == core::KeyStatus::finished) {
        progress.state = State::finished;
        progress.status = row.response.status;
        progress.location = location_of(row.response);
        progress.answer = std::move(row.response);
        return progress;
    }
    progress.state =
        row.status == core::KeyStatus::attention ? State::needs_attention : State::open;
    progress.recovery_point = std::move(row.recovery_point);
    progress.held = row.held;
    return progress;
}

}  // namespace

std::optional<KeyProgress> find_key_progress(
    Snapshot& read, const Principal& principal, std::string_view key, Scope scope
) {
    const auto given = http::key_of(key);
    const auto* text = std::get_if<std::string>(&given);
    if (text == nullptr) return std::nullopt;
    const auto hash = engine::key_hash(engine::key_identity(scope, principal, *text));
    auto row = engine::find_key(read.session(), hash);
    if (!row) return std::nullopt;
    return progress_of(std::move(*row));
}

}  // namespace pawl
