#include <pawl/bank_file.hpp>

#include "src/core/ascii.hpp"
#include "src/json/hash.hpp"

namespace pawl::bank {

namespace {

bool capital(char c) {
    return c >= 'A' && c <= 'Z';
}

}  // namespace

// ISO 13616: the first four characters go to the end, letters become 10 to 35, and the number is 1
// modulo 97 (ISO 7064).
bool is_iban(std::string_view text) {
    if (text.size() < 15 || text.size() > 34) return false;
    if (!capital(text[0]) || !capital(text[1]) || !core::is_digit(text[2]) ||
        !core::is_digit(text[3]))
        return false;
    int rest = 0;
    const auto add = [&rest](char c) {
        const int value = core::is_digit(c) ? c - '0' : c - 'A' + 10;
        rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
    };
    for (const char c : text)
        if (!core::is_digit(c) && !capital(c)) return false;
    for (const char c : text.substr(4)) add(c);
    for (const char c : text.substr(0, 4)) add(c);
    return rest == 1;
}

// Weights 3, 7, 1: the sum is a multiple of ten.
bool is_routing_number(std::string_view text) {
    if (text.size() != 9 || !core::are_digits(text)) return false;
    int sum = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        sum += (text[i] - '0') * (i % 3 == 0 ? 3 : i % 3 == 1 ? 7 : 1);
    return sum > 0 && sum % 10 == 0;
}

std::string sha256(std::string_view bytes) {
    return json::hex(json::sha256(bytes));
}

}  // namespace pawl::bank
