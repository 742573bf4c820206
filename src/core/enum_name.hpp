#pragma once

#include <string_view>

namespace pawl::core {

// The name of an enumerator, read off the compiler's text of this function: "... [with auto value =
// pawl::core::attempt::State::idle; ...]".
template <auto value>
constexpr std::string_view enum_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    text = text.substr(text.find("value = "));
    text = text.substr(0, text.find_first_of(";]"));
    return text.substr(text.rfind(':') + 1);
}

}  // namespace pawl::core
