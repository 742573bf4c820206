#include "src/base/random.hpp"

#include "src/core/assert.hpp"

#include <sys/random.h>

#include <array>

namespace pawl::base {

Random& system_random() {
    class Real final : public Random {
    public:
        // getrandom(2) once for 32 numbers of a thread, to save system calls.
        std::uint64_t next() override {
            thread_local std::array<std::uint64_t, 32> pool;
            thread_local std::size_t used = pool.size();
            if (used == pool.size()) {
                const auto got = ::getrandom(pool.data(), sizeof pool, 0);
                PAWL_ASSERT(
                    got == static_cast<ssize_t>(sizeof pool)
                );  // Never short up to 256 bytes (man getrandom).
                used = 0;
            }
            return pool[used++];
        }
    };
    static Real random;
    return random;
}

std::string random_hex(Random& random, std::size_t digits) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text(digits, '0');
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        if (i % 16 == 0) bits = random.next();
        text[i] = hex[bits & 15U];
        bits >>= 4U;
    }
    return text;
}

}  // namespace pawl::base
