#include <pawl/detail/json_request.hpp>

#include "src/base/text.hpp"
#include "src/json/form.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace pawl::detail {

namespace {

std::string_view place(TextSource source) {
    switch (source) {
        case TextSource::path:
            return "the path";
        case TextSource::query:
            return "the query";
        case TextSource::form:
            break;
    }
    return "the body";
}

bool refuse(std::string_view field, std::string why, DecodeProblem& problem) {
    problem = {.field = std::string{field}, .why = std::move(why)};
    return false;
}

bool refuse_two(
    std::string_view field, std::string_view one, std::string_view other, DecodeProblem& problem
) {
    std::string why = "Is given twice: in ";
    return refuse(field, why.append(one).append(" and in ").append(other).append("."), problem);
}

// Whether `name` is `path`, or a field of it.
bool is_below(std::string_view name, std::string_view path) {
    return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
}

}  // namespace

struct RequestFields::Impl {
    std::optional<JsonDocument> body;
    std::vector<TextField> texts;
    std::map<std::string, std::string, std::less<>> headers;
};

RequestFields::RequestFields() : impl_{std::make_unique<Impl>()} {}
RequestFields::RequestFields(RequestFields&&) noexcept = default;
RequestFields& RequestFields::operator=(RequestFields&&) noexcept = default;
RequestFields::~RequestFields() = default;

std::optional<DecodeProblem> RequestFields::add_json(std::string_view body) {
    auto document = JsonDocument::parse(body, Nul::refused);
    if (auto* problem = std::get_if<DecodeProblem>(&document)) return std::move(*problem);
    impl_->body.emplace(std::move(std::get<JsonDocument>(document)));
    return std::nullopt;
}

std::optional<DecodeProblem> RequestFields::add(TextSource source, std::string_view text) {
    auto pairs = json::parse_pairs(text);
    if (auto* problem = std::get_if<DecodeProblem>(&pairs)) return std::move(*problem);
    for (auto& pair : std::get<0>(pairs))
        impl_->texts.push_back(
            {.source = source, .name = std::move(pair.name), .value = std::move(pair.value)}
        );
    return std::nullopt;
}

std::optional<DecodeProblem> RequestFields::add_form(std::string_view body) {
    return add(TextSource::form, body);
}
std::optional<DecodeProblem> RequestFields::add_query(std::string_view query) {
    return add(TextSource::query, query);
}

std::optional<DecodeProblem> RequestFields::add_path(
    std::string_view name, std::string_view value
) {
    if (!base::is_utf8(value))
        return DecodeProblem{.field = std::string{name}, .why = "Is not UTF-8."};
    if (value.find('\0') != value.npos)
        return DecodeProblem{.field = std::string{name}, .why = "Holds the character U+0000."};
    impl_->texts.push_back(
        {.source = TextSource::path, .name = std::string{name}, .value = std::string{value}}
    );
    return std::nullopt;
}

std::optional<std::string> RequestFields::take_form(std::string_view name) {
    auto is_it = [name](const TextField& text) {
        return text.source == TextSource::form && text.name == name;
    };
    auto& texts = impl_->texts;
    if (std::count_if(texts.begin(), texts.end(), is_it) != 1) return std::nullopt;
    auto found = std::find_if(texts.begin(), texts.end(), is_it);
    std::string value = std::move(found->value);
    texts.erase(found);
    return value;
}

std::string RequestFields::canonical_json() const {
    return impl_->body ? impl_->body->canonical() : std::string{};
}

std::optional<JsonReader> RequestFields::body() const {
    if (!impl_->body) return std::nullopt;
    return impl_->body->root();
}

std::span<const TextField> RequestFields::texts() const {
    return impl_->texts;
}

bool RequestFields::has_text(std::string_view path) const {
    return std::any_of(impl_->texts.begin(), impl_->texts.end(), [path](const TextField& text) {
        return is_below(text.name, path);
    });
}

std::optional<std::vector<TextReader>> RequestFields::list(
    std::string_view path, DecodeProblem& problem
) const {
    std::vector<TextReader> found;
    TextSource first{};
    for (const TextField& text : impl_->texts) {
        if (text.name != path) continue;
        if (found.empty()) first = text.source;
        if (text.source != first)
            return refuse_two(path, place(first), place(text.source), problem), std::nullopt;
        found.emplace_back(text.value);
    }
    if (found.empty()) return missing(path, problem), std::nullopt;
    return found;
}

std::optional<TextReader> RequestFields::text(std::string_view path, DecodeProblem& problem) const {
    auto found = list(path, problem);
    if (!found) return std::nullopt;
    if (found->size() > 1) return refuse(path, "Is given more than once.", problem), std::nullopt;
    return found->front();
}

bool RequestFields::refuse_twice(std::string_view field, DecodeProblem& problem) const {
    auto text =
        std::find_if(impl_->texts.begin(), impl_->texts.end(), [field](const TextField& one) {
            return is_below(one.name, field);
        });
    return refuse_two(field, place(text->source), "the body", problem);
}

void RequestFields::add_header(std::string_view name, std::string_view value) {
    if (base::is_utf8(value)) impl_->headers.emplace(name, value);
}
std::optional<std::string> RequestFields::header(std::string_view name) const {
    const auto at = impl_->headers.find(name);
    return at == impl_->headers.end() ? std::nullopt : std::optional{at->second};
}

bool refuse_beside_header(std::string_view field, DecodeProblem& problem) {
    return refuse(field, "This comes from a header.", problem);
}

bool refuse_unknown(std::string_view name, DecodeProblem& problem) {
    return refuse(base::excerpt(name), "This field is not known.", problem);
}

bool refuse_text(std::string_view path, DecodeProblem& problem) {
    return refuse(path, "Can be sent as JSON only.", problem);
}

}  // namespace pawl::detail
