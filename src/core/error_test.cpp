#include <pawl/error.hpp>

#include <gtest/gtest.h>

namespace pawl::error_test {
namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

StoreError error(Kind kind, Effect effect = Effect::rolled_back) {
    return {kind, effect, "take_over", "its text"};
}

TEST(StoreErrorKinds, an_error_of_the_environment_is_temporary_and_safe_to_repeat) {
    for (const auto kind :
         {Kind::unavailable,
          Kind::full,
          Kind::read_only,
          Kind::busy,
          Kind::locked,
          Kind::contention,
          Kind::deadline}) {
        EXPECT_TRUE(error(kind).transient());
        EXPECT_TRUE(error(kind).safe_to_repeat());
        EXPECT_FALSE(error(kind, Effect::in_doubt).safe_to_repeat());
    }
}

TEST(StoreErrorKinds, a_fault_of_the_program_or_its_data_is_permanent) {
    for (const auto kind : {Kind::constraint, Kind::statement, Kind::refused, Kind::fenced}) {
        EXPECT_FALSE(error(kind).transient());
        EXPECT_FALSE(error(kind).safe_to_repeat());
    }
}

}  // namespace
}  // namespace pawl::error_test
