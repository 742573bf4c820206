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

// What each page says. They know no session and no request: title, content, status and whether the
// page asks again by itself.
namespace rides {

// The body of a problem: ours, or an operation's own.
struct Problem {
    std::optional<std::string> type;
    std::string title;
    int status{};
    std::optional<std::string> detail;
    bool retry{};
    std::optional<std::string> code;
};
// "in-progress" of "/errors/in-progress"; empty for an operation's own.
std::string_view kind_of(const Problem& problem);

// The form of a booking, not sent yet, or sent back with what is wrong with it.
struct BookingForm {
    std::string key;
    std::string form_token;
    std::span<const pawl::FormField> values{};
    std::string wrong{};  // "origin_lat: Must be from -90 to 90."
};
Page form_page(const BookingForm& form);
// Ours are 32 hex digits. No form is shown for a key that could be part of a path, or end one:
// somebody else made it up, to lead riders to where their booking isn't seen.
bool is_key_of_form(std::string_view key);
// Where a booking can be looked at, whatever is in its key.
std::string booking_path(std::string_view key);

// How far the booking under a key has come, unless it is a ride: that has its own page.
Page booking_page(const Booking& booking);
Page ride_page(const Ride& ride);
Page rides_page(const std::vector<Ride>& rides);

// `wrong`: the token that was given is no rider's. `next`: where to go then.
Page sign_in_page(std::string_view next, bool wrong, std::string_view why);

// A request that was refused. Where it was a form of ours, its fields and key, to send the same
// again.
struct Refused {
    const Problem& problem;
    std::string_view key;
    std::string_view form_token;
    std::span<const pawl::FormField> form;
    std::string_view retry_after;  // Seconds; may be empty.
    bool booking{};                // It was a booking.
    bool looked{};                 // Nothing was asked for but a look: it may be had again.
};
Page problem_page(const Refused& refused);
Page nothing_there_page();  // 404

}  // namespace rides
