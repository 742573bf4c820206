#include <pawl/error.hpp>

#include "src/engine/failure.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pawl::engine {
namespace {

using Kind = StoreError::Kind;

Failure of_store(Kind kind) {
    return failure_of(std::make_exception_ptr(StoreError{
        kind, StoreError::Effect::rolled_back, "take_over", "its text"}));
}

TEST(FailureOf, an_error_of_the_database_is_named_and_temporary) {
    struct Case {
        Kind kind;
        Reason why;
    };
    for (const auto& [kind, why] :
         {Case{Kind::contention, Reason::contention},
          Case{Kind::locked, Reason::contention},
          Case{Kind::deadline, Reason::phase_deadline},
          Case{Kind::busy, Reason::overloaded},
          Case{Kind::unavailable, Reason::store_unavailable},
          Case{Kind::full, Reason::store_unavailable},
          Case{Kind::read_only, Reason::store_unavailable}}) {
        EXPECT_TRUE(of_store(kind).transient);
        EXPECT_EQ(of_store(kind).rejection.reason, why);
    }
}

TEST(FailureOf, a_fault_of_the_program_is_internal_and_does_not_pass) {
    for (const auto kind : {Kind::constraint, Kind::statement, Kind::refused, Kind::fenced}) {
        EXPECT_FALSE(of_store(kind).transient);
        EXPECT_EQ(of_store(kind).rejection.reason, Reason::internal);
        EXPECT_EQ(of_store(kind).rejection.detail, "its text");
    }
    const auto thrown = failure_of(std::make_exception_ptr(std::logic_error{"a bug"}));
    EXPECT_FALSE(thrown.transient);
    EXPECT_EQ(thrown.rejection.detail, "a bug");
    EXPECT_EQ(
        failure_of(std::make_exception_ptr(7)).rejection.detail,
        "an exception that is not a std::exception"
    );
}

}  // namespace
}  // namespace pawl::engine
