#include "src/base/text.hpp"
#include "src/json/document.hpp"
#include "src/json/number.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <vector>

namespace pawl::json {

namespace {

std::string_view view(boost::json::string_view text) {
    return {text.data(), text.size()};
}

void append(std::string& out, const boost::json::value& value);

void append(std::string& out, const boost::json::array& list) {
    out.push_back('[');
    for (const auto& item : list) {
        if (&item != list.begin()) out.push_back(',');
        append(out, item);
    }
    out.push_back(']');
}

void append(std::string& out, const boost::json::object& object) {
    std::vector<const boost::json::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
        return base::utf16_less(view(a->key()), view(b->key()));
    });
    out.push_back('{');
    for (const auto* member : members) {
        if (out.back() != '{') out.push_back(',');
        base::append_string(out, view(member->key()));
        out.push_back(':');
        append(out, member->value());
    }
    out.push_back('}');
}

// The depth is limited: parse() made the value.
void append(std::string& out, const boost::json::value& value) {
    using boost::json::kind;
    switch (value.kind()) {
        case kind::null:
            out.append("null");
            break;
        case kind::bool_:
            out.append(value.get_bool() ? "true" : "false");
            break;
        case kind::int64:
            append_number(out, value.get_int64());
            break;
        case kind::uint64:
            append_number(out, value.get_uint64());
            break;
        case kind::double_:
            append_number(out, value.get_double());
            break;
        case kind::string:
            base::append_string(out, view(value.get_string()));
            break;
        case kind::array:
            append(out, value.get_array());
            break;
        case kind::object:
            append(out, value.get_object());
            break;
    }
}

}  // namespace

std::string canonical(const boost::json::value& value) {
    std::string out;
    append(out, value);
    return out;
}

std::variant<std::string, DecodeProblem> canonical_text(std::string_view json) {
    auto document = parse(json);
    if (auto* problem = std::get_if<DecodeProblem>(&document)) return std::move(*problem);
    return canonical(std::get<boost::json::value>(document));
}

}  // namespace pawl::json
