#include "src/page/redact.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace pawl::page {

namespace {

// Names of fields, as the commands print them.
constexpr std::array private_fields{
    std::string_view{"answer"},
    std::string_view{"args"},
    std::string_view{"calls_not_made"},
    std::string_view{"location"},
    std::string_view{"params"},
    std::string_view{"recovery_data"},
    std::string_view{"response_body"},
    std::string_view{"response_headers"},
    std::string_view{"result"},
    std::string_view{"value"}};

bool is_private(std::string_view name) {
    return std::ranges::find(private_fields, name) != private_fields.end();
}

std::string size_of(const boost::json::value& value) {
    const auto size =
        value.is_string() ? value.get_string().size() : boost::json::serialize(value).size();
    return "redacted, " + std::to_string(size) + " bytes";
}

}  // namespace

boost::json::value redact(boost::json::value in) {
    if (auto* list = in.if_array())
        for (auto& one : *list) one = redact(std::move(one));
    auto* object = in.if_object();
    if (object == nullptr) return in;
    for (auto& member : *object) {
        auto& value = member.value();
        if (!is_private(member.key()))
            value = redact(std::move(value));
        else if (!value.is_null() && !(value.is_array() && value.get_array().empty()))
            value = boost::json::string{size_of(value)};
    }
    return in;
}

}  // namespace pawl::page
