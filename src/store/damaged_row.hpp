#pragma once

#include <pawl/detail/rows.hpp>
#include <pawl/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::store {

// The columns of a row that do not decode (PAWL0022); both members are empty for a sound row.
struct Damage {
    std::string problem;               // "attempt is 3000000000", for operators.
    std::vector<std::string> columns;  // The names of these columns.
};

// Reads a row in which some values may not decode (PAWL0022), as a number out of range or an
// invalid time. Each such value is named in damage() and read as T{}, so that one damaged row does
// not hide or block the other rows of its result.
class DamagedRow {
public:
    DamagedRow(const detail::Row& row, std::string_view statement)
        : row_{row}, statement_{statement} {}

    // `name` is the column's, for operators.
    template <class T>
    T column(int column, std::string_view name) {
        try {
            return detail::column_as<T>(row_, column, statement_);
        } catch (const StoreError& error) {
            if (error.kind() != StoreError::Kind::statement) throw;
            note(column, name);
            return T{};
        }
    }
    const Damage& damage() const { return damage_; }
    const std::string& problem() const { return damage_.problem; }

private:
    void note(int column, std::string_view name);

    const detail::Row& row_;
    std::string_view statement_;
    Damage damage_;
};

}  // namespace pawl::store
