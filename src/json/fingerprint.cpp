#include "src/json/fingerprint.hpp"

#include "src/core/ascii.hpp"
#include "src/json/document.hpp"

#include <utility>

namespace pawl::json {

namespace {

BodyKind kind_of(std::string_view media, std::string_view body) {
    if (body.empty()) return BodyKind::none;
    if (media == "application/json" || media.ends_with("+json")) return BodyKind::json;
    if (media == "application/x-www-form-urlencoded") return BodyKind::form;
    return BodyKind::other;
}

std::variant<std::string, DecodeProblem> canonical_body(
    BodyKind kind, const FingerprintInput& input
) {
    if (kind == BodyKind::json && !input.canonical_json.empty())
        return std::string{input.canonical_json};
    if (kind == BodyKind::json) return canonical_text(input.body);
    if (kind == BodyKind::form) return canonical_pairs(input.body);
    return std::string{input.body};
}

}  // namespace

std::string media_type(std::string_view content_type) {
    return core::lower_text(core::trimmed(content_type.substr(0, content_type.find(';'))));
}

BodyKind body_kind(std::string_view content_type, std::string_view body) {
    return kind_of(media_type(content_type), body);
}

std::variant<std::string, DecodeProblem> fingerprint_text(const FingerprintInput& input) {
    auto query = canonical_pairs(input.query);
    if (auto* problem = std::get_if<DecodeProblem>(&query)) return std::move(*problem);
    auto media = media_type(input.content_type);
    auto body = canonical_body(kind_of(media, input.body), input);
    if (auto* problem = std::get_if<DecodeProblem>(&body)) return std::move(*problem);

    Parts parts;
    parts.add(fingerprint_version).add(input.method).add(input.route);
    parts.add(static_cast<std::uint64_t>(input.path_parameters.size()));
    for (const Pair& parameter : input.path_parameters)
        parts.add(parameter.name).add(parameter.value);
    parts.add(std::get<0>(query)).add(media).add(std::get<0>(body));
    return std::move(parts).bytes();
}

std::variant<Digest, DecodeProblem> fingerprint(
    std::string_view secret, const FingerprintInput& input
) {
    auto text = fingerprint_text(input);
    if (auto* problem = std::get_if<DecodeProblem>(&text)) return std::move(*problem);
    return hmac_sha256(secret, std::get<std::string>(text));
}

std::string call_key(const CallKeyInput& input) {
    Parts parts;
    parts.add(input.installation).add(input.tenant).add(input.account);
    parts.add(input.client_key).add(input.point).add(input.generation);
    return hex(sha256(parts.bytes()));
}

}  // namespace pawl::json
