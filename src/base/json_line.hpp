#pragma once

#include <pawl/detail/session.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::log {

// One JSON object on one line: "ts" first, then the fields in the order of the calls.
class JsonLine {
public:
    explicit JsonLine(TimePoint at);

    // A value that is not UTF-8 becomes "(not UTF-8)".
    JsonLine& add(std::string_view name, std::string_view value);
    JsonLine& add_number(std::string_view name, std::int64_t value);
    JsonLine& add_true(std::string_view name);

    std::string text() const { return text_ + '}'; }

private:
    void begin(std::string_view name);

    std::string text_;
};

}  // namespace pawl::log
