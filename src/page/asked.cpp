#include "src/page/asked.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::page {

namespace {

constexpr int limit_default = 50;
constexpr int limit_max = 500;

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::string> Fields::text(std::string_view name) const {
    const auto found = std::ranges::find(pairs_, name, &json::Pair::name);
    if (found == pairs_.end() || found->value.empty()) return std::nullopt;
    return found->value;
}

std::string Fields::text_or(std::string_view name, std::string_view otherwise) const {
    return text(name).value_or(std::string{otherwise});
}

std::optional<std::int64_t> Fields::number(std::string_view name) const {
    const auto given = text(name);
    if (!given) return std::nullopt;
    if (const auto number = number_of(*given)) return number;
    throw Refused{400, std::string{name} + " is not a whole number"};
}

int Fields::limit() const {
    const auto given = number("limit").value_or(limit_default);
    if (given < 1 || given > limit_max) throw Refused{400, "limit is 1 to 500"};
    return static_cast<int>(given);
}

std::int64_t Asked::number() const {
    if (const auto found = number_of(id)) return *found;
    throw Refused{404, "There is no key " + id + "."};
}

}  // namespace pawl::page
