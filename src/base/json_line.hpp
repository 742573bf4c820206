#pragma once

#include <pawl/detail/session.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::log {

// One JSON object on one line: "ts" first, then the fields in the order of the calls.
class JsonLine {
public:
    explicit JsonLine(TimePoint at);

    // Of a value of more than `value_max` bytes the beginning, as it may come from anybody. A value
    // that is not UTF-8, as an error of the application may be, is shown as sanitized_error().
    static constexpr std::size_t value_max = 4'000;
    JsonLine& add(std::string_view name, std::string_view value);
    JsonLine& add_number(std::string_view name, std::int64_t value);
    JsonLine& add_true(std::string_view name);

    // Shown as base::visible_text(): an operator may read it on a terminal.
    std::string text() const;

private:
    void begin(std::string_view name);

    std::string text_;
};

}  // namespace pawl::log
