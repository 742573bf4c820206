#include <pawl/client.hpp>

#include "src/http/key_header.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <stdexcept>

namespace pawl {

namespace {

constexpr std::size_t key_max = 255;

// Escapes the separator, so that different lists of parts never give the same key.
std::string part_of(std::string_view text, std::string_view name) {
    if (text.empty())
        throw std::invalid_argument{"pawl: entity_key: the " + std::string{name} + " is empty"};
    return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace

ClientKey ClientKey::saved(std::string text) {
    const auto key = http::key_of(text);
    if (const auto* wrong = std::get_if<http::KeyProblem>(&key))
        throw std::invalid_argument{"pawl: the key of a request is not valid: " + wrong->why};
    if (!std::holds_alternative<std::string>(key) || std::get<std::string>(key) != text)
        throw std::invalid_argument{
            "pawl: the key of a request is empty or has quotation marks around it: 1 to 255 "
            "visible ASCII characters"};
    return ClientKey{std::move(text)};
}

ClientKey entity_key(std::string_view kind, std::string_view id, std::string_view action) {
    auto text = part_of(kind, "kind") + '/' + part_of(id, "id") + '/' + part_of(action, "action");
    if (text.size() > key_max)
        throw std::invalid_argument{
            "pawl: entity_key: " + text.substr(0, 60) + "... has " + std::to_string(text.size()) +
            " characters: at most 255"};
    return ClientKey::saved(std::move(text));
}

ClientKey entity_key(std::string_view kind, std::int64_t id, std::string_view action) {
    return entity_key(kind, std::to_string(id), action);
}

}  // namespace pawl
