#pragma once

namespace pawl::detail {

// Always false, in a way that depends on a template parameter: for static_assert in code that must
// not be instantiated.
template <class>
inline constexpr bool never = false;

}  // namespace pawl::detail
