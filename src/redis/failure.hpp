#pragma once

#include <pawl/error.hpp>

#include <string_view>

namespace pawl::redis {

struct Failure {
    StoreError::Kind kind{};
    StoreError::Effect effect{};
    std::string_view hint;  // What to do, if known; or empty.
};

// What an error reply means, by its first word: "LOADING Redis is loading ...".
Failure failure_of(std::string_view error);

// Redis has forgotten the script's text, and ran nothing.
bool is_unknown_script(std::string_view error);
// This user may not run the command, or this Redis does not have it.
bool is_forbidden(std::string_view error);

}  // namespace pawl::redis
