#pragma once

// decode<T>(json) -> T or DecodeProblem. See json.hpp.

#include <pawl/detail/json_problem.hpp>
#include <pawl/detail/json_types.hpp>

#include <algorithm>
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

// What happens to members that a struct has no field for.
enum class Unknown { refused, ignored };

// One value of a document, borrowed from it. A read function returns false and sets `problem` if
// the value is of another kind or out of range; `problem.field` is then relative to this value.
class JsonReader {
public:
    explicit JsonReader(const void* value, Unknown unknown = Unknown::refused)
        : value_{value}, unknown_{unknown} {}

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
    std::pair<std::string_view, JsonReader> member_at(std::size_t i) const;
    bool ignores_unknown() const { return unknown_ == Unknown::ignored; }
    // Reports the first member that is neither in `known` nor `also`.
    void refuse_unknown(
        std::span<const std::string_view> known, DecodeProblem& problem, std::string_view also = {}
    ) const;

private:
    const void* value_;  // A boost::json::value.
    Unknown unknown_;
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
    // numbers that would change by being read. With Unknown::ignored these limits hold only for
    // what is read (rule: src/json/document.hpp).
    static std::variant<JsonDocument, DecodeProblem> parse(
        std::string_view text, Nul nul, Unknown unknown = Unknown::refused
    );
    JsonDocument(JsonDocument&&) noexcept;
    JsonDocument& operator=(JsonDocument&&) noexcept;
    ~JsonDocument();

    JsonReader root(Unknown unknown = Unknown::refused) const;
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
bool read_time(std::string_view text, TimePoint& out, DecodeProblem& problem);
bool read_decimal(std::string_view text, int decimals, std::int64_t& units, DecodeProblem& problem);

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
    } else if constexpr (is_duration<T>) {
        typename T::rep count{};
        if (!read_scalar(in, count, problem)) return false;
        out = T{count};
        return true;
    } else if constexpr (std::same_as<T, TimePoint>) {
        std::string text;
        return in.text(text, problem) && read_time(text, out, problem);
    } else if constexpr (DecimalAmount<T>) {
        std::string text;
        return in.text(text, problem) && read_decimal(text, decimals_of<T>, out.units, problem);
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
    } else if constexpr (is_from_header<T>) {
        return in.text(out.value.emplace(), problem);
    } else {
        return read_json(in, out, problem);
    }
}

// `tag`: a member that is read already, that of a variant; empty: there is none.
template <Record T>
bool read_record(const JsonReader& in, T& out, DecodeProblem& problem, std::string_view tag = {}) {
    static_assert(has_json_form<T>);
    if (!in.is_object(problem)) return false;
    std::size_t found = tag.empty() ? 0 : 1;
    bool good = true;
    for_each_field(out, [&]<class F>(std::string_view name, F& field) {
        if (!good) return;
        auto member = in.member(name);
        if (member) {
            ++found;
            good = read_field(*member, field, problem) || within(name, problem);
        } else if constexpr (is_optional<F>) {
            field.reset();
        } else if constexpr (is_from_header<F>) {
            field.value.reset();
        } else {
            good = missing(name, problem);
        }
    });
    if (!good) return false;
    if (found == in.size() || in.ignores_unknown()) return true;
    in.refuse_unknown(field_names<T>, problem, tag);
    return false;
}

template <class T>
bool read_map(const JsonReader& in, T& out, DecodeProblem& problem) {
    if (!in.is_object(problem)) return false;
    out.clear();
    for (std::size_t i = 0; i < in.size(); ++i) {
        const auto [name, value] = in.member_at(i);
        typename T::mapped_type item{};
        if (!read_json(value, item, problem)) return within(name, problem);
        out.emplace(name, std::move(item));
    }
    return true;
}

template <class... A>
bool read_tagged(const JsonReader& in, std::variant<A...>& out, DecodeProblem& problem) {
    static_assert(
        !(std::ranges::count(field_names<A>, std::string_view{"type"}) + ...),
        "pawl: a struct of a std::variant has no field named `type`: that is its tag"
    );
    if (!in.is_object(problem)) return false;
    const auto member = in.member("type");
    if (!member) return missing("type", problem);
    const auto tag = member->word();
    bool known = false;
    bool good = false;
    const auto read_if = [&]<class One>(const One*) {
        if (known || tag != std::string_view{One::tag}) return;
        known = true;
        good = read_record(in, out.template emplace<One>(), problem, "type");
    };
    (read_if(static_cast<const A*>(nullptr)), ...);
    if (known) return good;
    constexpr std::string_view tags[] = {A::tag...};
    return not_among(tags, problem) || within("type", problem);
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
    } else if constexpr (is_text_map<T>) {
        return read_map(in, out, problem);
    } else if constexpr (has_tags<T>) {
        return read_tagged(in, out, problem);
    } else {
        refuse_type<T>();
        return false;
    }
}

// The inverse of encode; strict, and never throws because of the text.
template <class T>
std::variant<T, DecodeProblem> decode(
    std::string_view json, Unknown unknown = Unknown::refused, Nul nul = Nul::allowed
) {
    auto document = JsonDocument::parse(json, nul, unknown);
    if (auto* problem = std::get_if<DecodeProblem>(&document)) return std::move(*problem);
    std::variant<T, DecodeProblem> result{std::in_place_index<0>};
    DecodeProblem problem;
    if (!read_json(std::get<JsonDocument>(document).root(unknown), std::get<0>(result), problem))
        result.template emplace<1>(std::move(problem));
    return result;
}

}  // namespace pawl::detail
