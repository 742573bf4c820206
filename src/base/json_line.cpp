#include "src/base/json_line.hpp"

#include "src/base/error_text.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/base/visible_text.hpp"

namespace pawl::log {

JsonLine::JsonLine(TimePoint at) : text_{R"({"ts":")" + base::time_text(at) + '"'} {}

void JsonLine::begin(std::string_view name) {
    text_ += ',';
    base::append_string(text_, name);
    text_ += ':';
}

JsonLine& JsonLine::add(std::string_view name, std::string_view value) {
    begin(name);
    const auto is_text = base::is_utf8(value);
    if (is_text && value.size() > value_max)
        base::append_string(text_, std::string{base::cut(value, value_max)} + "...");
    else
        base::append_string(text_, is_text ? value : base::sanitized_error(value));
    return *this;
}

JsonLine& JsonLine::add_number(std::string_view name, std::int64_t value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
}

std::string JsonLine::text() const {
    return base::visible_text(text_ + '}');
}

JsonLine& JsonLine::add_true(std::string_view name) {
    begin(name);
    text_ += "true";
    return *this;
}

}  // namespace pawl::log
