#include "src/core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace pawl::core {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "pawl: assertion failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace pawl::core
