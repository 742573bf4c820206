#include <pawl/detail/json_read.hpp>

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/json/decimal.hpp"
#include "src/json/document.hpp"
#include "src/json/number.hpp"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace pawl::detail {

namespace {

const boost::json::value& as_value(const void* value) {
    return *static_cast<const boost::json::value*>(value);
}

bool refuse(std::string why, DecodeProblem& problem) {
    problem = {.field = {}, .why = std::move(why)};
    return false;
}

bool refuse_number(DecodeProblem& problem) {
    return refuse("Must be a number.", problem);
}

std::optional<json::Number> number(const void* value) {
    const auto& v = as_value(value);
    if (const auto* i = v.if_int64()) return json::Number{*i};
    if (const auto* u = v.if_uint64()) return json::Number{*u};
    if (const auto* d = v.if_double(); d != nullptr && !std::isnan(*d)) return json::Number{*d};
    return std::nullopt;
}

// Reads a text from a form, a query or a path.
std::optional<json::Number> number(std::string_view text, DecodeProblem& problem) {
    if (!json::is_number(text)) return refuse_number(problem), std::nullopt;
    auto value = json::number_of(text);
    if (auto* why = std::get_if<std::string>(&value))
        return refuse(std::move(*why), problem), std::nullopt;
    return std::get<json::Number>(value);
}

}  // namespace

bool JsonReader::boolean(bool& out, DecodeProblem& problem) const {
    const bool* value = as_value(value_).if_bool();
    if (!value) return refuse("Must be true or false.", problem);
    out = *value;
    return true;
}

bool JsonReader::integer(
    std::int64_t& out, std::int64_t least, std::int64_t most, DecodeProblem& problem
) const {
    auto value = number(value_);
    return value ? json::to_integer(*value, least, most, out, problem) : refuse_number(problem);
}

bool JsonReader::natural(std::uint64_t& out, std::uint64_t most, DecodeProblem& problem) const {
    auto value = number(value_);
    return value ? json::to_natural(*value, most, out, problem) : refuse_number(problem);
}

bool JsonReader::real(double& out, DecodeProblem& problem) const {
    auto value = number(value_);
    return value ? json::to_real(*value, out, problem) : refuse_number(problem);
}

bool JsonReader::real(float& out, DecodeProblem& problem) const {
    auto value = number(value_);
    return value ? json::to_real(*value, out, problem) : refuse_number(problem);
}

bool JsonReader::text(std::string& out, DecodeProblem& problem) const {
    const auto* value = as_value(value_).if_string();
    if (!value) return refuse("Must be a string.", problem);
    out.assign(value->data(), value->size());
    return true;
}

std::optional<std::string_view> JsonReader::word() const {
    const auto* value = as_value(value_).if_string();
    if (!value) return std::nullopt;
    return std::string_view{value->data(), value->size()};
}

bool JsonReader::is_null() const {
    return as_value(value_).is_null();
}

bool JsonReader::is_list(DecodeProblem& problem) const {
    return as_value(value_).is_array() || refuse("Must be a list.", problem);
}

bool JsonReader::is_object(DecodeProblem& problem) const {
    return as_value(value_).is_object() || refuse("Must be an object.", problem);
}

std::size_t JsonReader::size() const {
    const auto& value = as_value(value_);
    return value.is_array() ? value.get_array().size() : value.get_object().size();
}

JsonReader JsonReader::item(std::size_t i) const {
    return JsonReader{&as_value(value_).get_array()[i], unknown_};
}

std::optional<JsonReader> JsonReader::member(std::string_view name) const {
    const auto* found = as_value(value_).get_object().if_contains({name.data(), name.size()});
    if (!found) return std::nullopt;
    return JsonReader{found, unknown_};
}

std::pair<std::string_view, JsonReader> JsonReader::member_at(std::size_t i) const {
    const auto& member = *(as_value(value_).get_object().begin() + static_cast<std::ptrdiff_t>(i));
    return {{member.key().data(), member.key().size()}, JsonReader{&member.value(), unknown_}};
}

void JsonReader::refuse_unknown(
    std::span<const std::string_view> known, DecodeProblem& problem, std::string_view also
) const {
    for (const auto& member : as_value(value_).get_object()) {
        std::string_view name{member.key().data(), member.key().size()};
        if ((!also.empty() && name == also) ||
            std::find(known.begin(), known.end(), name) != known.end())
            continue;
        refuse("This field is not known.", problem);
        problem.field = base::excerpt(name);
        return;
    }
}

bool TextReader::boolean(bool& out, DecodeProblem& problem) const {
    if (value_ != "true" && value_ != "false") return refuse("Must be true or false.", problem);
    out = value_ == "true";
    return true;
}

bool TextReader::integer(
    std::int64_t& out, std::int64_t least, std::int64_t most, DecodeProblem& problem
) const {
    auto value = number(value_, problem);
    return value && json::to_integer(*value, least, most, out, problem);
}

bool TextReader::natural(std::uint64_t& out, std::uint64_t most, DecodeProblem& problem) const {
    auto value = number(value_, problem);
    return value && json::to_natural(*value, most, out, problem);
}

bool TextReader::real(double& out, DecodeProblem& problem) const {
    auto value = number(value_, problem);
    return value && json::to_real(*value, out, problem);
}

bool TextReader::real(float& out, DecodeProblem& problem) const {
    auto value = number(value_, problem);
    return value && json::to_real(*value, out, problem);
}

bool TextReader::text(std::string& out, DecodeProblem&) const {
    out.assign(value_);
    return true;
}

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): room is written before it is read.
struct JsonDocument::Impl {
    std::array<unsigned char, 2048> room;
    boost::json::monotonic_resource memory{room.data(), room.size()};
    std::optional<boost::json::value> root;
};

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

std::variant<JsonDocument, DecodeProblem> JsonDocument::parse(
    std::string_view text, Nul nul, Unknown unknown
) {
    std::unique_ptr<Impl> impl{new Impl};
    auto parsed = json::parse(text, nul, &impl->memory, unknown);
    if (auto* problem = std::get_if<DecodeProblem>(&parsed)) return std::move(*problem);
    impl->root.emplace(boost::json::pilfer(std::get<boost::json::value>(parsed)));
    return JsonDocument{std::move(impl)};
}

JsonReader JsonDocument::root(Unknown unknown) const {
    return JsonReader{&*impl_->root, unknown};
}

std::string JsonDocument::canonical() const {
    return json::canonical(*impl_->root);
}

bool within(std::string_view outer, DecodeProblem& problem) {
    bool joined = problem.field.empty() || problem.field.front() == '[';
    problem.field.insert(0, joined ? "" : ".").insert(0, outer);
    return false;
}

bool within(std::size_t index, DecodeProblem& problem) {
    return within("[" + std::to_string(index) + "]", problem);
}

bool missing(std::string_view field, DecodeProblem& problem) {
    problem = {.field = std::string{field}, .why = "This field is missing."};
    return false;
}

bool read_time(std::string_view text, TimePoint& out, DecodeProblem& problem) {
    const auto at = base::time_from_rfc3339(text);
    if (!at)
        return refuse(
            "Must be a time such as 2026-11-21T04:30:00Z, to the millisecond at most.", problem
        );
    out = *at;
    return true;
}

bool read_decimal(
    std::string_view text, int decimals, std::int64_t& units, DecodeProblem& problem
) {
    const auto read = json::decimal_from_text(text, decimals);
    if (!read)
        return refuse(
            "Must be an amount as text, with at most " + std::to_string(decimals) + " decimals.",
            problem
        );
    units = *read;
    return true;
}

bool not_among(std::span<const std::string_view> words, DecodeProblem& problem) {
    std::string why = "Must be one of:";
    for (auto word : words)
        if (!word.empty()) why.append(why.back() == ':' ? " " : ", ").append(word);
    return refuse(why.append("."), problem);
}

}  // namespace pawl::detail
