#include "src/store/postgres/failure.hpp"

#include <gtest/gtest.h>

namespace pawl::postgres {

using Kind = StoreError::Kind;

TEST(SqlStateTest, each_sqlstate_has_its_kind) {
    const std::pair<const char*, Kind> states[] = {
        {"23505", Kind::constraint},   // unique_violation
        {"23P01", Kind::constraint},   // exclusion_violation
        {"40001", Kind::contention},   // serialization_failure
        {"40P01", Kind::contention},   // deadlock_detected
        {"40003", Kind::unavailable},  // statement_completion_unknown
        {"55P03", Kind::locked},       // lock_not_available
        {"57014", Kind::deadline},     // query_canceled
        {"25P03", Kind::deadline},     // idle_in_transaction_session_timeout
        {"25006", Kind::read_only},    // read_only_sql_transaction
        {"53100", Kind::full},         // disk_full
        {"53300", Kind::unavailable},  // too_many_connections
        {"57P01", Kind::unavailable},  // admin_shutdown
        {"57P03", Kind::unavailable},  // cannot_connect_now
        {"08006", Kind::unavailable},  // connection_failure
        {"58030", Kind::unavailable},  // io_error
        {"26000", Kind::unavailable},  // invalid_sql_statement_name, behind PgBouncer
        {"42P05", Kind::unavailable},  // duplicate_prepared_statement, there too
        {"42P01", Kind::statement},    // undefined_table
        {"42601", Kind::statement},    // syntax_error
        {"22P02", Kind::statement},    // invalid_text_representation
        {"22012", Kind::statement},    // division_by_zero, where no fence is
        {"P0001", Kind::statement},    // raise_exception
        {"", Kind::unavailable}};
    for (const auto& [state, kind] : states) EXPECT_EQ(kind_of_state(state), kind) << state;
}

TEST(SqlStateTest, only_states_of_unknown_outcome_leave_a_commit_in_doubt) {
    for (const auto* state : {"40003", "08000", "08006", "08007"})
        EXPECT_TRUE(outcome_unknown(state, true)) << state;
    for (const auto* state : {"40001", "40P01", "23505", "53200", "57014", "XX000", ""})
        EXPECT_FALSE(outcome_unknown(state, true)) << state;
    EXPECT_TRUE(outcome_unknown("40003", false));
    EXPECT_FALSE(outcome_unknown("08006", false));
}

TEST(SqlStateTest, a_wrong_setting_gets_a_hint) {
    EXPECT_NE(hint_for_state("26000").find("prepared=off"), std::string_view::npos);
    EXPECT_NE(hint_for_state("53300").find("connections="), std::string_view::npos);
    EXPECT_NE(hint_for_state("25006").find("primary"), std::string_view::npos);
    EXPECT_TRUE(hint_for_state("23505").empty());
}

TEST(MessageTest, a_message_names_the_constraint_but_not_the_row) {
    EXPECT_EQ(
        message_without_values(
            "23514",
            {.primary = "new row for relation \"rides\" violates check constraint \"bug\"",
             .detail = "Failing row contains (9, 42.42, secret).",
             .hint = ""}
        ),
        "new row for relation \"rides\" violates check constraint \"bug\""
    );
    EXPECT_EQ(
        message_without_values(
            "22P02",
            {.primary = "invalid input syntax for type bigint: \"my \"secret\"\"",
             .detail = "secret",
             .hint = "a hint"}
        ),
        "invalid input syntax for type bigint: (a value) (a hint)"
    );
}

TEST(MessageTest, a_message_without_row_data_is_complete) {
    EXPECT_EQ(
        message_without_values(
            "40P01", {.primary = "deadlock detected", .detail = "1 waits for 2", .hint = "see log"}
        ),
        "deadlock detected (1 waits for 2) (see log)"
    );
}

}  // namespace pawl::postgres
