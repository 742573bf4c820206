#include "apps/payouts/payouts.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace payouts {

namespace {

struct Told {
    std::string title;
    int status{};
    std::string detail;
};

}  // namespace

pawl::Response problem(int status, std::string title, std::string detail) {
    auto response = pawl::respond(status, Told{std::move(title), status, std::move(detail)});
    response.content_type = "application/problem+json";
    return response;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string date_of(pawl::TimePoint at) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(at)};
    std::array<char, 16> text{};
    std::snprintf(
        text.data(),
        text.size(),
        "%04d-%02u-%02u",
        static_cast<int>(day.year()),
        static_cast<unsigned>(day.month()),
        static_cast<unsigned>(day.day())
    );
    return text.data();
}

}  // namespace payouts
