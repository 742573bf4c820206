#include "src/engine/key_references.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/text.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace pawl::engine {

namespace {

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= KeyReferences::name_max &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
           });
}

bool is_id(std::string_view id) {
    return !id.empty() && id.size() <= KeyReferences::id_max && base::is_utf8(id) &&
           std::ranges::none_of(id, [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

// nullopt: the reference can be stored.
std::optional<std::string_view> problem(std::string_view name, std::string_view id) {
    if (!is_name(name)) return "its name is not 1 to 40 lower-case letters, digits, - and _";
    if (name == request_reference) return "its name means the id of the request (X-Request-Id)";
    if (!is_id(id)) return "its id is not 1 to 200 bytes of UTF-8 without control characters";
    return std::nullopt;
}

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
    throw std::invalid_argument{
        "pawl: the reference '" + std::string{name} + "' can't be stored: " + std::string{why}};
}

}  // namespace

void KeyReferences::add(std::string_view name, std::string_view id) {
    if (const auto why = problem(name, id)) refuse(name, *why);
    if (found_.size() >= references_max) refuse(name, "a transaction has at most 20 references");
    found_.push_back({std::string{name}, std::string{id}});
}

void KeyReferences::add_request(std::string_view id, int attempt) {
    if (id.empty() || attempt > request_ids_max) return;
    found_.push_back({std::string{request_reference}, std::string{id}});
}

void KeyReferences::write(store::Session& session, std::int64_t key_id) {
    for (const auto& [name, id] : found_)
        detail::send_statement(session, sql::insert_key_reference, key_id, name, id);
    found_.clear();
}

}  // namespace pawl::engine
