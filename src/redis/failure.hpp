#pragma once

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

struct Failure {
    StoreError::Kind kind{};
    StoreError::Effect effect{};
    std::string_view hint;  // What to do, where that is known; or empty.
};

// What an error that Redis answered means. Its first word says it: "LOADING Redis is loading ...".
Failure failure_of(std::string_view error);

// Which is no error of ours if a script is meant: its text was forgotten, and nothing was run.
bool is_unknown_script(std::string_view error);
// Redis lets this user not do that, or does not have it.
bool is_forbidden(std::string_view error);

}  // namespace pawl::redis
