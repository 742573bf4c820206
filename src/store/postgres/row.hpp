#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct pg_result;

namespace pawl::postgres {

// A row of a result in PostgreSQL's text format. Times are converted to the stores' format,
// 2026-11-21T04:30:00.123Z, whatever the session's time zone.
class PostgresRow final : public detail::Row {
public:
    PostgresRow(const pg_result* result, std::string_view statement)
        : result_{result}, statement_{statement} {}
    void at(int row) { row_ = row; }

    int columns() const override;
    bool is_null(int column) const override;
    std::int64_t integer(int column) const override;
    double real(int column) const override;
    std::string_view text(int column) const override;  // Also of a NUMERIC: all its digits.
    std::string_view bytes(int column) const override;

private:
    unsigned type(int column) const;
    std::string_view value(int column) const;
    void check_column(int column) const;
    [[noreturn]] void wrong(int column, const char* wanted) const;

    const pg_result* result_;
    std::string_view statement_;
    int row_{0};
    mutable std::string time_;   // The time column that was read last.
    mutable std::string bytes_;  // The bytes that were read last.
};

// "2026-11-21 10:00:00.123456+05:30", as DateStyle ISO writes it; microseconds are cut off.
// nullopt: another format, or BC.
std::optional<TimePoint> time_of_postgres(std::string_view text);

}  // namespace pawl::postgres
