#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/response.hpp>

#include <string>

namespace pawl {

// A plain struct as a JSON object. Throws EncodeError for NaN and invalid UTF-8.
template <class T>
std::string to_json(const T& value) {
    return detail::encode(value);
}

template <class T>
requires detail::Record<T> Response respond(int status, const T& value) {
    return respond(status, to_json(value));
}

}  // namespace pawl
