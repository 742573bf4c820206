#include "apps/rides/pages/sketch.hpp"
#include "apps/rides/pages/views.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace rides {

namespace {

struct Input {
    std::string_view name;
    std::string_view label;
    std::string_view most;  // Degrees.
    std::string_view hint;
};
struct End {
    std::string_view legend;
    std::array<Input, 2> inputs;
};
constexpr std::array<End, 2> ends{
    {{"From",
      {{{"origin_lat", "Latitude", "90", "47.61"}, {"origin_lon", "Longitude", "180", "-122.33"}}}},
     {"To",
      {{{"target_lat", "Latitude", "90", "47.66"},
        {"target_lon", "Longitude", "180", "-122.35"}}}}}};

constexpr std::string_view form_form = R"(<h1>Book a rocket</h1>
{wrong}<p class="lead">Tell us where from and where to. Everybody flies for $20.00.</p>
<form class="card" method="post" action="/rides" aria-describedby="once">
<input type="hidden" name="idempotency_key" value="{key}">
<input type="hidden" name="form_token" value="{token}">
<div class="ends">
{ends}</div>
<p class="hint" id="once">Degrees, with a point: north and east are positive.
Pressing twice books one ride.</p>
<button class="main">Book and pay $20.00</button>
</form>)";

constexpr std::string_view end_form = R"(<fieldset>
<legend>{legend}</legend>
{inputs}</fieldset>
)";

constexpr std::string_view input_form = R"(<label for="{name}">{label}</label>
<input type="number" id="{name}" name="{name}" value="{value}" placeholder="{hint}"
 min="-{most}" max="{most}" step="any"
 required autocomplete="off"{wrong}>
)";

constexpr std::string_view wrong_form = R"(<div class="notice bad" role="alert" id="wrong">
<h2>The booking was not sent on</h2>
<p>{where}{why} Nothing was booked.</p>
</div>
)";

std::string_view value_of(std::span<const pawl::FormField> values, std::string_view name) {
    const auto at = std::ranges::find(values, name, &pawl::FormField::name);
    return at == values.end() ? std::string_view{} : std::string_view{at->value};
}

// Splits "origin_lat: Must be ..." into the field and its problem.
std::pair<std::string_view, std::string_view> field_and_problem(std::string_view wrong) {
    const auto colon = wrong.find(": ");
    if (colon == wrong.npos) return {"", wrong};
    return {wrong.substr(0, colon), wrong.substr(colon + 2)};
}

Markup inputs_of(const BookingForm& form, const End& end, std::string_view wrong_field) {
    Markup inputs;
    for (const auto& input : end.inputs)
        inputs += fill(
            input_form,
            {{"name", input.name},
             {"label", input.label},
             {"value", value_of(form.values, input.name)},
             {"hint", input.hint},
             {"most", input.most},
             {"wrong",
              input.name == wrong_field
                  ? Markup{" aria-invalid=\"true\" aria-describedby=\"wrong\" autofocus"}
                  : Markup{}}}
        );
    return inputs;
}

Markup wrong_notice(std::string_view field, std::string_view why) {
    Markup where;
    for (const auto& end : ends)
        for (const auto& input : end.inputs)
            if (input.name == field)
                where = fill(
                    "<a href=\"#{name}\">{legend}, {label}</a>: ",
                    {{"name", input.name}, {"legend", end.legend}, {"label", input.label}}
                );
    return fill(wrong_form, {{"where", where}, {"why", why}});
}

constexpr std::string_view card_form = R"(<div class="card told {tone}">
<h1>{title}</h1>
{content}
{sketch}<p class="actions">{actions}</p>
</div>)";

constexpr std::string_view new_booking = R"(<a class="button" href="/book">Book another ride</a>)";

Markup sketch_of(const Booking& booking) {
    if (!booking.ride) return {};
    const auto& ride = *booking.ride;
    return route_sketch(
        {ride.origin_lat, ride.origin_lon}, {ride.target_lat, ride.target_lon}, false
    );
}

struct Card {
    std::string_view tone;
    std::string_view title;
    Markup content;
    Markup actions{};
    int refresh_s{0};
};

Page card_page(const Booking& booking, Card what) {
    Page page{.title = std::string{what.title}, .refresh_s = what.refresh_s};
    page.content = fill(
        card_form,
        {{"tone", what.tone},
         {"title", what.title},
         {"content", what.content},
         {"sketch", sketch_of(booking)},
         {"actions", what.actions}}
    );
    return page;
}

Page in_progress_page(const Booking& booking) {
    return card_page(
        booking,
        {.tone = "busy",
         .title = "Your ride is being booked",
         .content =
             {R"(<p role="status"><span class="wheel" aria-hidden="true"></span>We are paying for it with your card. This page looks again by itself.</p>
<p>There is nothing more to do: it goes on if you close this page, and it is paid for once.</p>)"},
         .actions = {R"(<a class="button quiet" href="">Look again now</a>)"},
         .refresh_s = 2}
    );
}

Page waiting_page(const Booking& booking, std::string_view title, const Markup& what) {
    return card_page(
        booking,
        {.tone = "busy",
         .title = title,
         .content = fill(
             R"(<p role="status">{what}</p>
<p><strong>Please don't book this ride again</strong>: it would be another ride,
and another payment. This page shows the outcome.</p>)",
             {{"what", what}}
         ),
         .actions = {R"(<a class="button quiet" href="/rides">Your rides</a>)"},
         .refresh_s = 30}
    );
}

Page in_doubt(const Booking& booking) {
    return waiting_page(
        booking,
        "A person is looking into your payment",
        {"We can't tell by ourselves whether your card was charged. One of us finds out and "
         "settles it."}
    );
}

Page on_hold(const Booking& booking) {
    return waiting_page(
        booking,
        "Your booking is on hold",
        {"One of us looks into it, and it goes on after that. It is paid for once."}
    );
}

Page ended(const Booking& booking) {
    if (booking.status == 402)
        return card_page(
            booking,
            {.tone = "bad",
             .title = "Your card was declined",
             .content = fill(
                 "<p>The payment service says: {why}</p>\n<p>Nothing was charged, and no ride is "
                 "booked.</p>",
                 {{"why", booking.detail.value_or("the payment was declined.")}}
             ),
             .actions = {R"(<a class="button" href="/book">Book again</a>)"}}
        );
    return card_page(
        booking,
        {.tone = "bad",
         .title = "The ride was not booked",
         .content = fill(
             "<p>{title}. {detail}</p>",
             {{"title", booking.title.value_or("It ended without a ride")},
              {"detail", booking.detail.value_or("")}}
         ),
         .actions = {std::string{new_booking}}}
    );
}

Page expired(const Booking& booking) {
    Markup what{
        "<p>It was used so long ago that we have forgotten its answer. Nothing was booked by "
        "sending it again.</p>"};
    Markup actions;
    if (booking.location && booking.location->starts_with("/rides/")) {
        what += {"\n<p>The ride that it booked then is still on record.</p>"};
        actions = fill(
            R"(<a class="button quiet" href="{ride}">See that ride</a> )",
            {{"ride", *booking.location}}
        );
    } else if (booking.status == 402) {
        what += {"\n<p>Your card was declined then.</p>"};
    }
    actions += {std::string{new_booking}};
    auto page = card_page(
        booking,
        {.tone = "bad", .title = "This form is too old", .content = what, .actions = actions}
    );
    page.status = 410;
    return page;
}

}  // namespace

bool is_key_of_form(std::string_view key) {
    return std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
}

std::string booking_path(std::string_view key) {
    if (key == "." || key == "..") return "/rides";  // A URL can't end with these segments.
    return "/bookings/" + std::string{boost::urls::encode(key, boost::urls::unreserved_chars)};
}

Page form_page(const BookingForm& form) {
    const auto [field, why] = field_and_problem(form.wrong);
    Markup all;
    for (const auto& end : ends)
        all += fill(end_form, {{"legend", end.legend}, {"inputs", inputs_of(form, end, field)}});
    Page page{.status = form.wrong.empty() ? 200 : 400, .title = "Book a rocket"};
    page.content = fill(
        form_form,
        {{"wrong", form.wrong.empty() ? Markup{} : wrong_notice(field, why)},
         {"key", form.key},
         {"token", form.form_token},
         {"ends", all}}
    );
    return page;
}

Page booking_page(const Booking& booking) {
    if (booking.state == "needs_attention") return in_doubt(booking);
    if (booking.state == "on_hold") return on_hold(booking);
    if (booking.state == "finished") return ended(booking);
    if (booking.state == "expired") return expired(booking);
    return in_progress_page(booking);
}

}  // namespace rides
