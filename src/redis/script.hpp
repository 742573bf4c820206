#pragma once

#include "src/redis/reply.hpp"

#include <string_view>

namespace pawl::redis {

// What Redis does in one step. A script that fails keeps what it did before.
struct Script {
    std::string_view name;  // The statement that a StoreError names.
    std::string_view text;
    Shape answers{Shape::integer};
};

}  // namespace pawl::redis
