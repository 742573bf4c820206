#include "src/page/route.hpp"

namespace pawl::page {

std::optional<std::string> match(std::string_view pattern, std::string_view path) {
    constexpr std::string_view slot = "{id}";
    const auto at = pattern.find(slot);
    if (at == pattern.npos) return pattern == path ? std::optional{std::string{}} : std::nullopt;
    const auto before = pattern.substr(0, at);
    const auto after = pattern.substr(at + slot.size());
    if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
        !path.ends_with(after))
        return std::nullopt;
    const auto id = path.substr(before.size(), path.size() - before.size() - after.size());
    if (id.find('/') != id.npos) return std::nullopt;
    return std::string{id};
}

}  // namespace pawl::page
