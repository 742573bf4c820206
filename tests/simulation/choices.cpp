#include "tests/simulation/choices.hpp"

#include <charconv>
#include <stdexcept>

namespace pawl::simulation {

std::string text_of(const std::vector<std::uint8_t>& choices) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto choice : choices) {
        text += digits[choice / 16];
        text += digits[choice % 16];
    }
    return text;
}

std::vector<std::uint8_t> choices_of(const std::string& text) {
    std::vector<std::uint8_t> choices;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        std::uint8_t choice = 0;
        const auto* end = text.data() + i + 2;
        if (std::from_chars(text.data() + i, end, choice, 16).ptr != end)
            throw std::invalid_argument{"not choices: " + text.substr(i, 2)};
        choices.push_back(choice);
    }
    if (text.size() % 2 != 0) throw std::invalid_argument{"half a choice at the end"};
    return choices;
}

}  // namespace pawl::simulation
