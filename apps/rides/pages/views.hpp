#pragma once

#include <pawl/browser.hpp>

#include "apps/rides/pages/markup.hpp"
#include "apps/rides/rides.hpp"
#include "apps/rides/small_requests.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The content of each page: title, text, status, and whether it reloads. Independent of sessions
// and requests.
namespace rides {

// The body of a problem: the server's, or an operation's own.
struct Problem {
    std::optional<std::string> type;
    std::string title;
    int status{};
    std::optional<std::string> detail;
    bool retry{};
    std::optional<std::string> code;
};
// "/errors/in-progress" becomes "in-progress"; empty for an operation's own problem.
std::string_view kind_of(const Problem& problem);

// A booking form, new, or returned with its problem.
struct BookingForm {
    std::string key;
    std::string form_token;
    std::span<const pawl::FormField> values{};
    std::string wrong{};  // "origin_lat: Must be from -90 to 90."
};
Page form_page(const BookingForm& form);
// Our keys are 32 hex digits. No form is shown for another key: it could be part of a path, or an
// attacker may have chosen it, to lead riders to where their booking isn't seen.
bool is_key_of_form(std::string_view key);
// The address of a booking, safe for any key.
std::string booking_path(std::string_view key);

// The state of the booking with a key, unless it is a ride: a ride has its own page.
Page booking_page(const Booking& booking);
Page ride_page(const Ride& ride);
Page rides_page(const std::vector<Ride>& rides);

// `wrong`: no rider has the given token. `next`: where to go after the sign-in.
Page sign_in_page(std::string_view next, bool wrong, std::string_view why);

// A refused request. If it was a form of ours, it has the form's fields and key, to submit the same
// again.
struct Refused {
    const Problem& problem;
    std::string_view key;
    std::string_view form_token;
    std::span<const pawl::FormField> form;
    std::string_view retry_after;  // Seconds; may be empty.
    bool booking{};                // It was a booking.
    bool looked{};                 // It only read a page, and may be repeated.
};
Page problem_page(const Refused& refused);
Page nothing_there_page();  // 404

}  // namespace rides
