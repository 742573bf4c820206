#pragma once

// decode<T>(json) -> T or DecodeProblem. See json.hpp.

#include <pawl/detail/json_problem.hpp>
#include <pawl/detail/json_types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pawl::detail {

// One value of a document, borrowed from it. A read function returns false and sets `problem` if
// the value is of another kind or out of range; `problem.field` is then relative to this value.
class JsonReader {
public:
    explicit JsonReader(const void* value) : value_{value} {}

    bool boolean(bool& out, DecodeProblem& problem) const;
    bool integer(std::int64_t& out, std::int64_t least, std::int64_t most, DecodeProblem& problem)
        const;
    bool natural(std::uint64_t& out, std::uint64_t most, DecodeProblem& problem) const;
    bool real(double& out, DecodeProblem& problem) const;
    bool real(float& out, DecodeProblem& problem) const;
    bool text(std::string& out, DecodeProblem& problem) const;
    std::optional<std::string_view> word() const;

    bool is_null() const;
    bool is_list(DecodeProblem& problem) const;
    bool is_object(DecodeProblem& problem) const;
    std::size_t size() const;  // Of a list or an object.
    JsonReader item(std::size_t i) const;
    std::optional<JsonReader> member(std::string_view name) const;
    // Reports the first member that is not in `known`.
    void refuse_unknown(std::span<const std::string_view> known, DecodeProblem& problem) const;

private:
    const void* value_;  // A boost::json::value.
};

// A text from a form, a query or a path, read as the type of its field.
class TextReader {
public:
    explicit TextReader(std::string_view value) : value_{value} {}

    bool boolean(bool& out, DecodeProblem& problem) const;
    bool integer(std::int64_t& out, std::int64_t least, std::int64_t most, DecodeProblem& problem)
        const;
    bool natural(std::uint64_t& out, std::uint64_t most, DecodeProblem& problem) const;
    bool real(double& out, DecodeProblem& problem) const;
    bool real(float& out, DecodeProblem& problem) const;
    bool text(std::string& out, DecodeProblem& problem) const;
    std::optional<std::string_view> word() const { return value_; }

private:
    std::string_view value_;
};

enum class Nul { allowed, refused };  // U+0000 in a text; PostgreSQL does not store it.

// A parsed text; owns what its readers borrow.
class JsonDocument {
public:
    // Accepts exactly one JSON value of at most 32 levels, without duplicate names and without
    // numbers that would change by being read (rule: src/json/document.hpp).
    static std::variant<JsonDocument, DecodeProblem> parse(std::string_view text, Nul nul);
    JsonDocument(JsonDocument&&) noexcept;
    JsonDocument& operator=(JsonDocument&&) noexcept;
    ~JsonDocument();

    JsonReader root() const;
    std::string canonical() const;  // RFC 8785, as src/json/document.hpp says.

private:
    struct Impl;
    explicit JsonDocument(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// "lat" in "origin" is "origin.lat"; "[2]" in "stops" is "stops[2]".
bool within(std::string_view outer, DecodeProblem& problem);
bool within(std::size_t index, DecodeProblem& problem);
bool missing(std::string_view field, DecodeProblem& problem);
bool not_among(std::span<const std::string_view> words, DecodeProblem& problem);

// For both kinds of reader.
template <Scalar T, class Reader>
bool read_scalar(const Reader& in, T& out, DecodeProblem& problem) {
    if constexpr (std::same_as<T, bool>) {
        return in.boolean(out, problem);
    } else if constexpr (WholeNumber<T> && std::is_signed_v<T>) {
        std::int64_t wide{};
        if (!in.integer(
                wide, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), problem
            ))
            return false;
        out = static_cast<T>(wide);
        return true;
    } else if constexpr (WholeNumber<T>) {
        std::uint64_t wide{};
        if (!in.natural(wide, std::numeric_limits<T>::max(), problem)) return false;
        out = static_cast<T>(wide);
        return true;
    } else if constexpr (RealNumber<T>) {
        return in.real(out, problem);
    } else if constexpr (std::same_as<T, std::string>) {
        return in.text(out, problem);
    } else {
        auto word = in.word();
        auto value = word ? enum_from_name<T>(*word) : std::nullopt;
        if (!value) return not_among(enum_names<T>, problem);
        out = *value;
        return true;
    }
}

template <class T>
bool read_json(const JsonReader& in, T& out, DecodeProblem& problem);

template <class T>
bool read_list(const JsonReader& in, T& out, DecodeProblem& problem) {
    if (!in.is_list(problem)) return false;
    out.clear();
    out.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        typename T::value_type item{};
        if (!read_json(in.item(i), item, problem)) return within(i, problem);
        out.push_back(std::move(item));
    }
    return true;
}

template <class T>
bool read_field(const JsonReader& in, T& out, DecodeProblem& problem) {
    if constexpr (is_optional<T>) {
        out.reset();
        return in.is_null() || read_json(in, out.emplace(), problem);
    } else {
        return read_json(in, out, problem);
    }
}

template <Record T>
bool read_record(const JsonReader& in, T& out, DecodeProblem& problem) {
    if (!in.is_object(problem)) return false;
    std::size_t found = 0;
    bool good = true;
    for_each_field(out, [&](std::string_view name, auto& field) {
        if (!good) return;
        auto member = in.member(name);
        if (member) {
            ++found;
            good = read_field(*member, field, problem) || within(name, problem);
        } else if constexpr (is_optional<std::remove_cvref_t<decltype(field)>>) {
            field.reset();
        } else {
            good = missing(name, problem);
        }
    });
    if (!good) return false;
    if (found == in.size()) return true;
    in.refuse_unknown(field_names<T>, problem);
    return false;
}

template <class T>
bool read_json(const JsonReader& in, T& out, DecodeProblem& problem) {
    if constexpr (Scalar<T>) {
        return read_scalar(in, out, problem);
    } else if constexpr (is_vector<T>) {
        return read_list(in, out, problem);
    } else if constexpr (StrongType<T>) {
        bool good = true;
        for_each_field(out, [&](std::string_view, auto& field) {
            good = read_json(in, field, problem);
        });
        return good;
    } else if constexpr (Record<T>) {
        return read_record(in, out, problem);
    } else {
        refuse_type<T>();
        return false;
    }
}

// The inverse of encode; strict, and never throws because of the text.
template <class T>
std::variant<T, DecodeProblem> decode(std::string_view json) {
    auto document = JsonDocument::parse(json, Nul::allowed);
    if (auto* problem = std::get_if<DecodeProblem>(&document)) return std::move(*problem);
    std::variant<T, DecodeProblem> result{std::in_place_index<0>};
    DecodeProblem problem;
    if (!read_json(std::get<JsonDocument>(document).root(), std::get<0>(result), problem))
        result.template emplace<1>(std::move(problem));
    return result;
}

}  // namespace pawl::detail
