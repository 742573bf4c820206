#pragma once

#include <pawl/detail/session.hpp>

#include <boost/container/small_vector.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::postgres {

// Parameters are sent as texts; the database infers their types from the statement. nullopt: NULL.
// Throws StoreError for a text that PostgreSQL can't keep; `statement` is its name.
std::optional<std::string> text_of(const detail::Value& value, std::string_view statement);

// A stored time ("2027-01-15T08:00:00.000Z") in PostgreSQL's binary form. nullopt: another text.
std::optional<std::string> binary_time(std::string_view text);

// The values as libpq wants them. `times`: those that the database knows to be times; they are sent
// in the binary form, as reading a text costs the database 3,000 instructions. It borrows `values`.
class Parameters {
public:
    Parameters(
        const std::vector<std::optional<std::string>>& values, const std::vector<bool>& times
    );
    Parameters(const Parameters&) = delete;  // values_ points into times_.
    Parameters& operator=(const Parameters&) = delete;
    int count() const { return static_cast<int>(values_.size()); }
    const char* const* values() const { return values_.data(); }
    const int* lengths() const { return lengths_.data(); }
    const int* formats() const { return formats_.data(); }

private:
    template <class T>
    using Few = boost::container::small_vector<T, 32>;

    Few<std::string> times_;  // Never grows.
    Few<const char*> values_;
    Few<int> lengths_;  // 0 for a text.
    Few<int> formats_;  // 1: binary.
};

}  // namespace pawl::postgres
