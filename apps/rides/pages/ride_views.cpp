#include "apps/rides/pages/sketch.hpp"
#include "apps/rides/pages/views.hpp"

#include <algorithm>
#include <array>

namespace rides {

namespace {

struct StateWords {
    std::string_view state;
    std::string_view tone;
    std::string_view title;
    std::string_view text;
    std::string_view word;
};
constexpr std::array<StateWords, 7> words{{
    {"booking",
     "busy",
     "Your ride is being booked",
     "We are paying for it with your card. It is paid for once.",
     "being booked"},
    {"on_hold",
     "busy",
     "Your booking is on hold",
     "One of us looks into it, and it goes on after that. Please don't book this ride again: it "
     "would be another payment.",
     "on hold"},
    {"booked",
     "good",
     "Your rocket is on its way",
     "It is paid for, and a receipt is on its way to you.",
     "booked"},
    {"refused",
     "bad",
     "Your card was declined",
     "Nothing was charged, and this ride is not booked.",
     "declined"},
    {"cancelled", "bad", "You cancelled this ride", "The rocket flies without you.", "cancelled"},
    {"refunded", "bad", "This ride was refunded", "You have your money back.", "refunded"},
    {"given_up",
     "bad",
     "This ride was given up",
     "There is no ride. If your card was charged for it, ask our support.",
     "given up"},
}};

const StateWords& words_of(std::string_view state) {
    const auto at = std::ranges::find(words, state, &StateWords::state);
    return at == words.end() ? words.front() : *at;
}

Place origin_of(const Ride& ride) {
    return {ride.origin_lat, ride.origin_lon};
}
Place target_of(const Ride& ride) {
    return {ride.target_lat, ride.target_lon};
}

std::string sum_of(std::int64_t amount, const std::string& currency) {
    const auto cents = amount % 100;
    const auto sum =
        std::to_string(amount / 100) + (cents < 10 ? ".0" : ".") + std::to_string(cents);
    return currency == "usd" ? "$" + sum : sum + " " + currency;
}

// "2026-11-22T10:49:02.123Z" becomes "2026-11-22 10:49 UTC".
std::string time_of(const std::string& text) {
    if (text.size() < 16) return text;
    return text.substr(0, 10) + " " + text.substr(11, 5) + " UTC";
}

constexpr std::string_view ride_form = R"(<div class="card told {tone}">
<h1>{title}</h1>
<p role="status">{wheel}{text}</p>
{sketch}
<dl>
<div><dt>From</dt><dd>{from}</dd></div>
<div><dt>To</dt><dd>{to}</dd></div>
<div><dt>Distance</dt><dd>{distance}</dd></div>
<div><dt>Fare</dt><dd>{fare}</dd></div>
<div><dt>Ride</dt><dd>{id}, {time}</dd></div>{charge}{refunded}
</dl>
<p class="actions"><a class="button quiet" href="/rides">Your rides</a>{again}</p>
</div>)";

constexpr std::string_view row_form =
    R"(<li><a href="/rides/{id}"><span class="number">Ride {id}</span>
<span class="where">{from} → {to}</span>
<span class="state {tone}">{word}</span></a></li>
)";

// A part of the fare, or all of it.
Markup refunded_of(const Ride& ride) {
    if (ride.amount_refunded == 0) return {};
    return fill(
        "\n<div><dt>Refunded</dt><dd>{sum}</dd></div>",
        {{"sum", sum_of(ride.amount_refunded, ride.currency)}}
    );
}

}  // namespace

Page ride_page(const Ride& ride) {
    const auto& word = words_of(ride.state);
    const auto from = origin_of(ride);
    const auto to = target_of(ride);
    const bool busy = word.tone == "busy";
    const bool held = ride.state == "on_hold";
    Markup charge;
    if (ride.stripe_charge_id)
        charge = fill(
            "\n<div><dt>Payment</dt><dd><code>{id}</code></dd></div>",
            {{"id", *ride.stripe_charge_id}}
        );
    Page page{.title = std::string{word.title}, .refresh_s = held ? 30 : busy ? 2 : 0};
    page.content = fill(
        ride_form,
        {{"tone", word.tone},
         {"title", word.title},
         {"wheel",
          busy && !held ? Markup{R"(<span class="wheel" aria-hidden="true"></span>)"} : Markup{}},
         {"text", word.text},
         {"sketch", route_sketch(from, to, ride.state == "booked")},
         {"from", place_text(from)},
         {"to", place_text(to)},
         {"distance", distance_text(distance_km(from, to))},
         {"fare", sum_of(ride.amount, ride.currency)},
         {"id", std::to_string(ride.id.value)},
         {"time", time_of(ride.created_at)},
         {"charge", charge},
         {"refunded", refunded_of(ride)},
         {"again",
          busy ? Markup{} : Markup{"\n<a class=\"button\" href=\"/book\">Book another ride</a>"}}}
    );
    return page;
}

Page rides_page(const std::vector<Ride>& rides) {
    Markup rows;
    for (const auto& ride : rides) {
        const auto& word = words_of(ride.state);
        rows += fill(
            row_form,
            {{"id", std::to_string(ride.id.value)},
             {"from", place_text(origin_of(ride))},
             {"to", place_text(target_of(ride))},
             {"tone", word.tone},
             {"word", word.word}}
        );
    }
    Page page{.title = "Your rides"};
    page.content = {"<h1>Your rides</h1>\n"};
    page.content += rides.empty() ? Markup{"<p class=\"lead\">There are none yet.</p>\n"}
                                  : fill("<ul class=\"rides\">\n{rows}</ul>\n", {{"rows", rows}});
    constexpr std::size_t a_page = 20;  // The default limit of ListRides.
    page.content += {"<p class=\"actions\">"};
    if (rides.size() >= a_page)
        page.content += fill(
            R"(<a class="button quiet" href="/rides?before={id}">Earlier rides</a> )",
            {{"id", std::to_string(rides.back().id.value)}}
        );
    page.content += {R"(<a class="button" href="/book">Book a ride</a></p>)"};
    return page;
}

}  // namespace rides
