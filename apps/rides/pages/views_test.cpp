#include "apps/rides/pages/views.hpp"

#include "apps/rides/pages/sketch.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace rides {
namespace {

Ride ride_of(std::string state) {
    return {
        .id = {7},
        .created_at = "2027-01-15T08:00:00.000Z",
        .origin_lat = 47.61,
        .origin_lon = -122.33,
        .target_lat = 47.66,
        .target_lon = -122.35,
        .state = std::move(state),
        .amount = 2005,
        .currency = "usd",
        .stripe_charge_id = {},
        .stripe_refund_id = {}};
}

bool has(const Page& page, std::string_view text) {
    return page.content.text.find(text) != std::string::npos;
}

TEST(Markup, text_is_never_read_as_html) {
    const auto made = fill("<a title=\"{a}\">{b}</a>", {{"a", "\"'&<>{b}"}, {"b", Markup{"<b>"}}});

    EXPECT_EQ(made.text, "<a title=\"&quot;&#39;&amp;&lt;&gt;{b}\"><b></a>");
}

TEST(Markup, a_page_refreshes_without_a_script_and_only_if_asked_to) {
    Page page{.title = "<T>", .refresh_s = 2};
    const auto body = page_response(page).body;
    page.refresh_s = 0;

    EXPECT_NE(body.find("<meta http-equiv=\"refresh\" content=\"2\">"), std::string::npos);
    EXPECT_NE(body.find("<title>&lt;T&gt; "), std::string::npos);
    EXPECT_EQ(page_response(page).body.find("refresh"), std::string::npos);
    for (const auto* no : {"<script", "style=", "onclick", "javascript:"})
        EXPECT_EQ(body.find(no), std::string::npos) << no;
}

TEST(FormPage, has_the_hidden_key_and_the_riders_input) {
    const std::vector<pawl::FormField> values{{"origin_lat", "<91>"}, {"target_lon", "5"}};
    const auto page = form_page(
        {.key = "k-1", .form_token = "t", .values = values, .wrong = "origin_lat: Must be < 90."}
    );

    EXPECT_EQ(page.status, 400);
    EXPECT_TRUE(has(page, R"(<input type="hidden" name="idempotency_key" value="k-1">)"));
    EXPECT_TRUE(has(page, R"(value="&lt;91&gt;")"));
    EXPECT_TRUE(has(page, R"(<a href="#origin_lat">From, Latitude</a>: Must be &lt; 90.)"));
    EXPECT_TRUE(has(page, "aria-invalid"));
    const auto fresh = form_page({.key = "k-1", .form_token = "t"});
    EXPECT_EQ(fresh.status, 200);
    EXPECT_FALSE(has(fresh, "aria-invalid"));
    EXPECT_FALSE(has(fresh, "alert"));
}

TEST(BookingPage, shows_the_outcome_and_offers_no_new_booking_while_that_may_pay_twice) {
    struct Case {
        Booking booking;
        std::string title;
        int refresh_s;
        bool may_book;
    };
    const auto of = [](std::string state, std::optional<int> status = {}) {
        return Booking{.key = "k", .state = std::move(state), .status = status};
    };
    const std::vector<Case> cases{
        {of("open"), "Your ride is being booked", 2, false},
        {of("on_hold"), "Your booking is on hold", 30, false},
        {of("needs_attention"), "A person is looking into your payment", 30, false},
        {of("finished", 402), "Your card was declined", 0, true},
        {of("finished", 422), "The ride was not booked", 0, true},
        {of("expired", 201), "This form is too old", 0, true},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.title);
        const auto page = booking_page(c.booking);
        EXPECT_EQ(page.title, c.title);
        EXPECT_EQ(page.refresh_s, c.refresh_s);
        EXPECT_EQ(has(page, "href=\"/book\""), c.may_book);
        EXPECT_FALSE(has(page, "action=\"/rides\"")) << "this page submits no form";
    }
}

TEST(BookingPage, an_expired_key_leads_only_to_its_ride) {
    Booking booking{.key = "k", .state = "expired", .status = 201, .location = "/rides/7"};
    EXPECT_TRUE(has(booking_page(booking), "href=\"/rides/7\""));
    EXPECT_EQ(booking_page(booking).status, 410);
    booking.location = "//evil.example";
    EXPECT_FALSE(has(booking_page(booking), "evil"));
}

TEST(ProblemPage, offers_to_repeat_only_repeatable_requests_and_repeats_them_unchanged) {
    struct Case {
        std::string type;
        int status;
        bool retry;
        bool again;
    };
    const std::vector<Case> cases{
        {"store-unavailable", 503, true, true},
        {"overloaded", 503, true, true},
        {"stopping", 503, true, true},
        {"internal", 500, true, true},
        {"contention", 503, true, true},
        {"stranded", 503, true, true},
        {"key-reused", 422, false, false},
        {"form-refused", 403, false, false},
        {"quota-exceeded", 429, true, false},
        {"key-invalid", 400, false, false},
        {"body-too-large", 413, false, false},
    };
    const std::vector<pawl::FormField> form{{"origin_lat", "\"1"}};
    for (const auto& c : cases) {
        SCOPED_TRACE(c.type);
        const Problem problem{
            .type = "/errors/" + c.type,
            .title = "A title",
            .status = c.status,
            .detail = {},
            .retry = c.retry,
            .code = {}};
        const auto page = problem_page(
            {.problem = problem,
             .key = "k",
             .form_token = "t",
             .form = form,
             .retry_after = "3",
             .booking = true}
        );
        EXPECT_EQ(page.status, c.status);
        EXPECT_EQ(page.refresh_s, 0) << "a submitted form is not submitted again automatically";
        EXPECT_EQ(has(page, "name=\"idempotency_key\" value=\"k\""), c.again);
        EXPECT_EQ(has(page, "name=\"origin_lat\" value=\"&quot;1\""), c.again);
        // Before, a new form was offered while the first booking could still charge the card.
        const bool may_pay = c.type == "key-reused" || c.type == "form-refused";
        EXPECT_EQ(has(page, "Open a new form"), !c.retry && !may_pay);
        EXPECT_TRUE(has(page, "href=\"/bookings/k\""));
    }
}

Page refused_page(std::string_view type, std::string_view key, bool looked) {
    const Problem problem{
        .type = "/errors/" + std::string{type},
        .title = "A title",
        .status = 503,
        .detail = {},
        .retry = type != "form-refused",
        .code = {}};
    return problem_page(
        {.problem = problem,
         .key = key,
         .form_token = "t",
         .form = {},
         .retry_after = {},
         .booking = false,
         .looked = looked}
    );
}

TEST(ProblemPage, without_a_key_only_a_new_form_is_offered) {
    EXPECT_TRUE(has(refused_page("form-refused", "", false), "Open a new form"));
    EXPECT_FALSE(has(refused_page("form-refused", "", false), "/bookings/"));
}

// Before, the page of a DELETE that got a 503 sent it again automatically.
TEST(ProblemPage, only_a_read_is_repeated_automatically) {
    EXPECT_EQ(refused_page("store-unavailable", "", true).refresh_s, 3);
    EXPECT_EQ(refused_page("store-unavailable", "", false).refresh_s, 0);
    EXPECT_FALSE(has(refused_page("store-unavailable", "", false), "by itself"));
}

// Before, characters of a key could end the address, or lead elsewhere.
TEST(BookingPath, any_key_becomes_one_segment) {
    EXPECT_EQ(booking_path("0a-B_9"), "/bookings/0a-B_9");
    EXPECT_EQ(booking_path("../book"), "/bookings/..%2Fbook");
    EXPECT_EQ(booking_path("a?b#c%d\"<"), "/bookings/a%3Fb%23c%25d%22%3C");
    EXPECT_EQ(booking_path(".."), "/rides");
    EXPECT_TRUE(has(refused_page("form-refused", "a#b", false), "href=\"/bookings/a%23b\""));
    EXPECT_TRUE(is_key_of_form("0a-B_9"));
    for (const auto* key : {"../book", "..", "a/b", "a?b", "a#b", "a%b", "a.b"})
        EXPECT_FALSE(is_key_of_form(key)) << key;
    EXPECT_EQ(nothing_there_page().status, 404);
}

TEST(RidePage, refreshes_only_while_the_ride_is_being_booked) {
    EXPECT_EQ(ride_page(ride_of("booking")).refresh_s, 2);
    EXPECT_FALSE(has(ride_page(ride_of("booking")), "href=\"/book\""))
        << "the card may still be charged";
    for (const auto* state : {"booked", "refused", "cancelled", "refunded", "given_up"}) {
        const auto page = ride_page(ride_of(state));
        EXPECT_EQ(page.refresh_s, 0) << state;
        EXPECT_TRUE(has(page, "$20.05")) << state;
        EXPECT_TRUE(has(page, "2027-01-15 08:00 UTC")) << state;
        EXPECT_TRUE(has(page, "href=\"/book\"")) << state;
        EXPECT_EQ(has(page, "class=\"rocket\""), std::string{state} == "booked") << state;
    }
}

TEST(RidePage, of_a_ride_on_hold_asks_to_wait) {
    const auto page = ride_page(ride_of("on_hold"));

    EXPECT_EQ(page.title, "Your booking is on hold");
    EXPECT_EQ(page.refresh_s, 30);
    EXPECT_FALSE(has(page, "class=\"wheel\"")) << "nobody works on it";
    EXPECT_FALSE(has(page, "href=\"/book\"")) << "the card may still be charged";
}

TEST(RidePage, says_what_is_refunded) {
    auto ride = ride_of("booked");
    EXPECT_FALSE(has(ride_page(ride), "Refunded"));

    ride.amount_refunded = 505;

    EXPECT_TRUE(has(ride_page(ride), "<dt>Refunded</dt><dd>$5.05</dd>"));
}

TEST(RidesPage, links_to_earlier_rides_if_there_are_any) {
    EXPECT_TRUE(has(rides_page({}), "There are none yet."));
    std::vector<Ride> rides(20, ride_of("booked"));
    rides.back().id = {3};
    EXPECT_TRUE(has(rides_page(rides), "href=\"/rides?before=3\""));
    rides.pop_back();
    EXPECT_FALSE(has(rides_page(rides), "before="));
}

TEST(Sketch, distances_are_great_circle_distances) {
    EXPECT_EQ(distance_text(distance_km({52.52, 13.40}, {48.86, 2.35})), "877 km");
    EXPECT_EQ(distance_text(distance_km({0, 179}, {0, -179})), "222 km");
    EXPECT_EQ(distance_text(distance_km({90, 0}, {-90, 0})), "20,015 km");
    EXPECT_EQ(distance_text(distance_km({1, 1}, {1, 1})), "0.0 km");
    EXPECT_EQ(place_text({-33.9, 151.2}), "33.90° S, 151.20° E");
}

// Near or far, over the date line or a pole, or with equal ends: both ends are visible.
TEST(Sketch, both_ends_are_visible) {
    struct Case {
        Place from;
        Place to;
    };
    const std::vector<Case> cases{
        {{47.61, -122.33}, {47.66, -122.35}},
        {{0, 179}, {0, -179}},
        {{90, 0}, {-90, 180}},
        {{5, 5}, {5, 5}},
        {{-90, -180}, {90, 180}},
        {{0, 0}, {1e-7, 0}},
        {{10, -170}, {-10, 170}}};
    const std::regex end{R"re(<circle class="(?:from|to)" cx="([-0-9.]+)" cy="([-0-9.]+)")re"};
    for (const auto& c : cases) {
        const auto svg = route_sketch(c.from, c.to, true).text;
        SCOPED_TRACE(svg);
        int ends = 0;
        for (std::sregex_iterator at{svg.begin(), svg.end(), end}, none; at != none; ++at, ++ends) {
            EXPECT_TRUE(std::stod((*at)[1]) > 20 && std::stod((*at)[1]) < 620);
            EXPECT_TRUE(std::stod((*at)[2]) > 30 && std::stod((*at)[2]) < 260);
        }
        EXPECT_EQ(ends, 2);
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
    }
    // Eastward over the date line: to the right, not the long way back.
    const auto east = route_sketch({0, 179}, {0, -179}, false).text;
    std::smatch from;
    ASSERT_TRUE(std::regex_search(east, from, end));
    EXPECT_LT(std::stod(from[1]), 320);
}

}  // namespace
}  // namespace rides
