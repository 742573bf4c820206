#pragma once

#include <compare>
#include <string_view>

namespace pawl::core {

// How much a client wants a media type. If two types have one weight, it has named the one with the
// greater specificity more closely.
struct Preference {
    double weight{};    // 0 to 1; 0: the client does not accept the type.
    int specificity{};  // 1: */*, 2: text/*, 3: text/html, one more for each parameter; 0: weight
                        // 0.
    friend auto operator<=>(const Preference&, const Preference&) = default;
};

// Of the most specific range in the value of an Accept header that matches (RFC 9110, 12.5.1).
// `type` is in lower case, with the parameters that a range may name: "text/html;charset=utf-8". A
// malformed range counts as absent.
Preference preference(std::string_view accept, std::string_view type) noexcept;

}  // namespace pawl::core
