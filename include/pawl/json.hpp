#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/response.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pawl {

// A plain struct as a JSON object. Throws EncodeError for NaN and invalid UTF-8.
template <class T>
std::string to_json(const T& value) {
    return detail::encode(value);
}

using detail::Unknown;

// The inverse. nullopt: it is not JSON, or not exactly this struct (an unknown name, another type).
// Unknown::ignored, for a provider's answer: names without a field are ignored, at every level, and
// so are their values, however deep or long their numbers are.
template <class T>
std::optional<T> from_json(std::string_view text, Unknown unknown = Unknown::refused) {
    auto decoded = detail::decode<T>(text, unknown);
    if (auto* value = std::get_if<T>(&decoded)) return std::move(*value);
    return std::nullopt;
}

template <class T>
requires detail::Record<T> Response respond(int status, const T& value) {
    return respond(status, to_json(value));
}
template <class T>
requires detail::Record<T> Answer answer(int status, const T& value) {
    return answer(status, to_json(value));
}
template <class T>
requires detail::Record<T> Refusal refuse(int status, const T& value) {
    return refuse(status, to_json(value));
}

}  // namespace pawl
