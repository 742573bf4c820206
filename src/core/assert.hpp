#pragma once

// Checks one condition, in every build. A failure ends the process: its leases end, and another
// process goes on. Nothing that a user or a database can cause is an assertion (TigerStyle).
#define PAWL_ASSERT(condition)    \
    (static_cast<bool>(condition) \
         ? void(0)                \
         : ::pawl::core::assertion_failed(#condition, __FILE__, __LINE__))

namespace pawl::core {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;
}  // namespace pawl::core
