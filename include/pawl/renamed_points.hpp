#pragma once

#include <pawl/detail/steps_check.hpp>
#include <pawl/point.hpp>

#include <string_view>

namespace pawl {

// The database stores the names of recovery points. An operation lists here the names that earlier
// releases stored and that its steps do not have any more (docs/howto/deploys.md). A key at a name
// that is in neither is not continued: 503 `stranded`, PAWL0007.
//
//   using RenamedPoints = pawl::RenamedPoints<
//       pawl::Renamed<"ride_booked", RideCreated>,
//       pawl::Removed<"fraud_checked">>;
template <class... Names>
struct RenamedPoints {};

// A key at `Old` goes on from the point NowAt, whose fields it must have.
template <detail::FixedString Old, RecoveryPoint NowAt>
struct Renamed {
    static constexpr std::string_view old = Old.view();
    using Now = NowAt;
};

// No key may still be at this point; the start of the service counts and logs any.
template <detail::FixedString Old>
struct Removed {
    static constexpr std::string_view old = Old.view();
};

}  // namespace pawl
