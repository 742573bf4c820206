#include <pawl/detail/json_write.hpp>

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/json/decimal.hpp"
#include "src/json/document.hpp"
#include "src/json/number.hpp"

#include <cmath>

namespace pawl::detail {

// Writes a comma unless the value is the first in its bracket or follows its name.
void JsonWriter::separate() {
    if (text_.empty()) return;
    char last = text_.back();
    if (last != '{' && last != '[' && last != ':') text_.push_back(',');
}

void JsonWriter::begin(char bracket) {
    if (++depth_ > static_cast<int>(json::depth_max)) refuse("is nested deeper than 32 levels");
    separate();
    text_.push_back(bracket);
}

void JsonWriter::end(char bracket) {
    --depth_;
    text_.push_back(bracket);
}

void JsonWriter::name(std::string_view field) {
    separate();
    text_.append("\"").append(field).append("\":");
    field_ = field;
}

void JsonWriter::any_name(std::string_view name) {
    text(name);
    text_.push_back(':');
    field_ = name;
}

void JsonWriter::boolean(bool value) {
    separate();
    text_.append(value ? "true" : "false");
}

void JsonWriter::integer(std::int64_t value) {
    separate();
    json::append_number(text_, value);
}

void JsonWriter::natural(std::uint64_t value) {
    separate();
    json::append_number(text_, value);
}

void JsonWriter::real(double value) {
    if (!std::isfinite(value)) refuse("is not a finite number");
    separate();
    json::append_number(text_, value);
}

void JsonWriter::text(std::string_view value) {
    if (!base::is_utf8(value)) refuse("is not UTF-8");
    separate();
    base::append_string(text_, value);
}

void JsonWriter::word(const std::optional<std::string_view>& name) {
    if (!name) refuse("has a value without a name in its enumeration");
    text(*name);
}

void JsonWriter::time(TimePoint value) {
    text(base::time_text(value));
}

void JsonWriter::decimal(std::int64_t units, int decimals) {
    text(json::decimal_text(units, decimals));
}

void JsonWriter::refuse(std::string_view why) const {
    std::string what = field_.empty() ? "The value" : "The field " + std::string{field_};
    throw EncodeError{what.append(" has no JSON form: it ").append(why).append(".")};
}

}  // namespace pawl::detail
