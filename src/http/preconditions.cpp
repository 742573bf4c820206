#include "src/http/preconditions.hpp"

#include "src/http/problem.hpp"

#include <array>
#include <string>
#include <string_view>

namespace pawl::http {

std::optional<Reply> refuse_preconditions(const RequestHead& head) {
    // If-Modified-Since applies to reading only, If-Range to ranges.
    constexpr std::array<std::string_view, 3> conditions{
        "If-Match", "If-None-Match", "If-Unmodified-Since"};
    for (const auto name : conditions)
        if (head.count(name) > 0)
            return refusal(
                412, std::string{name} + " is not supported: send the request without it."
            );
    return std::nullopt;
}

}  // namespace pawl::http
