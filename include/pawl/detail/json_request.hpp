#pragma once

// decode_request<R>(fields) -> R or DecodeProblem. See json.hpp.

#include <pawl/detail/json_read.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::detail {

enum class TextSource { path, query, form };

struct TextField {
    TextSource source;
    std::string name;   // Decoded; "origin.lat" is the field lat of origin.
    std::string value;  // Decoded UTF-8 without U+0000.
};

// The fields of a request, from all its parts. Add each source at most once; a malformed one is
// refused at once, and after a problem the object must not be used.
class RequestFields {
public:
    RequestFields();
    RequestFields(RequestFields&&) noexcept;
    RequestFields& operator=(RequestFields&&) noexcept;
    ~RequestFields();

    std::optional<DecodeProblem> add_json(std::string_view body);  // application/json
    std::optional<DecodeProblem> add_form(std::string_view body
    );  // application/x-www-form-urlencoded
    std::optional<DecodeProblem> add_query(std::string_view query
    );  // Not decoded, without the `?`.
    std::optional<DecodeProblem> add_path(
        std::string_view name, std::string_view value
    );  // Decoded.

    // A header that the request asks for; one that is not UTF-8 is left out.
    void add_header(std::string_view name, std::string_view value);
    std::optional<std::string> header(std::string_view name) const;

    // Removes a form field that is not for the operation, such as the hidden one with the key.
    // nullopt: it is missing, or there twice (then it stays, and is refused as unknown).
    std::optional<std::string> take_form(std::string_view name);

    // The canonical form (RFC 8785) of what add_json() read; empty without a JSON body.
    std::string canonical_json() const;

    // For decode_request.
    std::optional<JsonReader> body() const;
    std::span<const TextField> texts() const;
    bool has_text(std::string_view path) const;  // This field, or one within it.
    std::optional<TextReader> text(std::string_view path, DecodeProblem& problem) const;
    std::optional<std::vector<TextReader>> list(std::string_view path, DecodeProblem& problem)
        const;
    bool refuse_twice(std::string_view field, DecodeProblem& problem) const;

private:
    struct Impl;
    std::optional<DecodeProblem> add(TextSource source, std::string_view text);
    std::unique_ptr<Impl> impl_;
};

bool refuse_unknown(std::string_view name, DecodeProblem& problem);
bool refuse_text(std::string_view path, DecodeProblem& problem);
bool refuse_beside_header(std::string_view field, DecodeProblem& problem);

template <class T>
bool knows_text(std::optional<std::string_view> rest);

// Whether a text of this name ("lat", "origin.lat") can be a field of T.
template <Record T>
bool knows_field(std::string_view name) {
    auto dot = name.find('.');
    auto head = name.substr(0, dot);
    auto rest = dot == name.npos ? std::nullopt : std::optional{name.substr(dot + 1)};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((head == field_name<T, I>() && knows_text<FieldType<T, I>>(rest)) || ...);
    }
    (std::make_index_sequence<field_count<T>>{});
}

// The same below a field of type T; `name` is what follows the dot, if anything.
template <class T>
bool knows_text(std::optional<std::string_view> rest) {
    if constexpr (is_optional<T>)
        return knows_text<typename T::value_type>(rest);
    else if constexpr (Record<T> && !StrongType<T>)
        return rest && knows_field<T>(*rest);
    else
        return !rest;
}

// The single value of a strong type.
template <class T>
bool read_text(const TextReader& in, T& out, DecodeProblem& problem) {
    if constexpr (Scalar<T>) {
        return read_scalar(in, out, problem);
    } else if constexpr (StrongType<T>) {
        bool good = true;
        for_each_field(out, [&](std::string_view, auto& field) {
            good = read_text(in, field, problem);
        });
        return good;
    } else {
        return refuse_text({}, problem);
    }
}

template <class T>
bool read_text_list(
    const RequestFields& fields, const std::string& path, T& out, DecodeProblem& problem
) {
    auto texts = fields.list(path, problem);
    if (!texts) return false;
    out.clear();
    for (std::size_t i = 0; i < texts->size(); ++i) {
        typename T::value_type item{};
        if (!read_text((*texts)[i], item, problem))
            return within(i, problem) || within(path, problem);
        out.push_back(std::move(item));
    }
    return true;
}

template <class T>
bool read_texts(
    const RequestFields& fields, const std::string& path, T& out, DecodeProblem& problem
) {
    if constexpr (is_optional<T>) {
        out.reset();
        return !fields.has_text(path) || read_texts(fields, path, out.emplace(), problem);
    } else if constexpr (is_vector<T>) {
        return read_text_list(fields, path, out, problem);
    } else if constexpr (Record<T> && !StrongType<T>) {
        if (!fields.has_text(path)) return missing(path, problem);
        bool good = true;
        for_each_field(out, [&](std::string_view name, auto& field) {
            if (good) good = read_texts(fields, path + "." + std::string{name}, field, problem);
        });
        return good;
    } else {
        auto text = fields.text(path, problem);
        return text && (read_text(*text, out, problem) || within(path, problem));
    }
}

template <Record R>
bool read_request(const RequestFields& fields, R& out, DecodeProblem& problem) {
    static_assert(has_json_form<R>);
    for (const TextField& text : fields.texts())
        if (!knows_field<R>(text.name)) return refuse_unknown(text.name, problem);
    auto body = fields.body();
    if (body && !body->is_object(problem)) return false;
    std::size_t found = 0;
    bool good = true;
    for_each_field(out, [&]<class F>(std::string_view name, F& field) {
        if (!good) return;
        auto member = body ? body->member(name) : std::nullopt;
        if constexpr (is_from_header<F>) {
            if (member || fields.has_text(name)) good = refuse_beside_header(name, problem);
            field.value = fields.header(header_name<F>);
        } else if (!member) {
            good = read_texts(fields, std::string{name}, field, problem);
        } else if (fields.has_text(name)) {
            good = fields.refuse_twice(name, problem);
        } else {
            ++found;
            good = read_field(*member, field, problem) || within(name, problem);
        }
    });
    if (good && body && found != body->size()) {
        body->refuse_unknown(field_names<R>, problem);
        return false;
    }
    return good;
}

// The headers that a request asks for.
template <Record R>
std::vector<std::string_view> header_names() {
    std::vector<std::string_view> names;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        [[maybe_unused]] const auto add = [&](std::string_view name) {
            if (!name.empty()) names.push_back(name);
        };
        (add(header_name<FieldType<R, I>>), ...);
    }
    (std::make_index_sequence<field_count<R>>{});
    return names;
}

// Builds the request from the fields. Each field of R must come from exactly one place, unknown
// fields are refused.
template <class R>
std::variant<R, DecodeProblem> decode_request(const RequestFields& fields) {
    static_assert(
        Record<R>, "pawl: a request must be a plain struct: its fields are read by their names"
    );
    std::variant<R, DecodeProblem> result{std::in_place_index<0>};
    DecodeProblem problem;
    if (!read_request(fields, std::get<0>(result), problem))
        result.template emplace<1>(std::move(problem));
    return result;
}

}  // namespace pawl::detail
