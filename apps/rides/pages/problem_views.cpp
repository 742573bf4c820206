#include "apps/rides/pages/views.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace rides {

namespace {

// The state of the booking in a rider's words; `again`: the same form may be submitted again.
struct Words {
    std::string_view kind;
    std::string_view title;
    std::string_view text;
    bool again{};
};
constexpr std::array<Words, 9> of_bookings{{
    {"key-reused",
     "This form was sent before, with another route",
     "The route that came first counts. For this one nothing was booked and nothing charged.",
     false},
    {"form-refused",
     "This form can't be used any more",
     "It is of another sign-in, or another site made your browser send it. Nothing was booked by "
     "sending it now.",
     false},
    {"quota-exceeded",
     "Too many bookings come in just now",
     "Nothing was booked and nothing charged. Go back to your form and send it again in a moment; "
     "it is still the same booking.",
     false},
    {"internal",
     "Something went wrong on our side",
     "Your booking is safe with us: we go on with it by ourselves. Sending the form again does no "
     "harm, as it is the same booking.",
     true},
    {"store-unavailable",
     "We can't write anything down just now",
     "Nothing is lost. Send the same booking again in a moment; however often you send it, you pay "
     "once.",
     true},
    {"overloaded",
     "Very many riders are booking just now",
     "Send the same booking again in a moment; however often you send it, you pay once.",
     true},
    {"stopping",
     "We are starting anew",
     "It takes a few seconds. Send the same booking again; however often you send it, you pay "
     "once.",
     true},
    {"key-missing", "This form has no key", "Nothing was booked. Please open a new form.", false},
    {"key-invalid",
     "This form has no valid key",
     "Nothing was booked. Please open a new form.",
     false},
}};
constexpr Words passing{
    "",
    "We can't take your booking just now",
    "Nothing is lost. Send the same booking again in a moment; however often you send it, you pay "
    "once.",
    true};

Words words_of(const Refused& refused) {
    const auto& problem = refused.problem;
    const auto kind = kind_of(problem);
    if (kind == "not-found" || (problem.status == 404 && !refused.booking))
        return {
            "", "There is no such page", "What you look for is not here, or is not yours.", false};
    if (refused.looked && problem.retry)
        return {"", "We can't show this just now", "This page tries again by itself.", false};
    if (!refused.booking && problem.retry)
        return {"", "We can't do this just now", "Send it again in a moment.", false};
    if (!refused.booking && kind != "form-refused") return {"", problem.title, "", false};
    const auto at = std::ranges::find(of_bookings, kind, &Words::kind);
    if (at != of_bookings.end()) return *at;
    return problem.retry ? passing : Words{"", problem.title, "Nothing was booked.", false};
}

constexpr std::string_view problem_form = R"(<div class="card told bad">
<h1>{title}</h1>
<p role="alert">{text}</p>
{wait}{again}<p class="actions">{actions}</p>
</div>)";

constexpr std::string_view repeat_form = R"(<form method="post" action="/rides">
<input type="hidden" name="idempotency_key" value="{key}">
<input type="hidden" name="form_token" value="{token}">
{fields}<button class="main">Send the same booking again</button>
</form>
)";

// The same fields under the same key: submitting sends the same request, whatever happened to the
// first.
Markup repeat_form_of(const Refused& refused) {
    Markup fields;
    for (const auto& field : refused.form)
        fields += fill(
            "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">\n",
            {{"name", field.name}, {"value", field.value}}
        );
    return fill(
        repeat_form, {{"key", refused.key}, {"token", refused.form_token}, {"fields", fields}}
    );
}

Markup actions_of(const Refused& refused) {
    Markup actions;
    if (!refused.key.empty())
        actions += fill(
            R"(<a class="button quiet" href="{booking}">See what became of it</a> )",
            {{"booking", booking_path(refused.key)}}
        );
    actions += {R"(<a class="button quiet" href="/rides">Your rides</a> )"};
    // An earlier request with this key may exist and still charge the card.
    const auto kind = kind_of(refused.problem);
    const bool may_pay = !refused.key.empty() && (kind == "key-reused" || kind == "form-refused");
    if (!refused.problem.retry && !may_pay)
        actions += {R"(<a class="button" href="/book">Open a new form</a>)"};
    return actions;
}

constexpr std::string_view sign_in_form = R"(<h1>Fly with Rocket Rides</h1>
{notice}<form class="card narrow" method="post" action="/sign-in">
<h2>Sign in</h2>
<input type="hidden" name="next" value="{next}">
<label for="email">Your e-mail address</label>
<input type="text" id="email" name="email" required maxlength="254" autocomplete="username"
 inputmode="email" autocapitalize="none" spellcheck="false">
<label for="token">Your token</label>
<input type="password" id="token" name="token" required maxlength="200"
 autocomplete="current-password" aria-describedby="token-hint"{invalid}>
<p class="hint" id="token-hint">The one that your phone uses. With ./run the riders are
 jane@example.com with test_jane, and joe@example.com with test_joe.</p>
<button class="main">Sign in</button>
</form>)";

}  // namespace

std::string_view kind_of(const Problem& problem) {
    constexpr std::string_view ours = "/errors/";
    const std::string_view type = problem.type ? std::string_view{*problem.type} : "";
    return type.starts_with(ours) ? type.substr(ours.size()) : std::string_view{};
}

Page problem_page(const Refused& refused) {
    const auto words = words_of(refused);
    Page page{.status = refused.problem.status, .title = std::string{words.title}};
    // A read is repeated automatically; a submitted form never is.
    if (refused.looked && refused.problem.retry) page.refresh_s = 3;
    Markup wait;
    if (!refused.retry_after.empty())
        wait = fill("<p class=\"hint\">Best after {s} s.</p>\n", {{"s", refused.retry_after}});
    const bool again = words.again && !refused.form.empty() && !refused.key.empty();
    page.content = fill(
        problem_form,
        {{"title", words.title},
         {"text",
          words.text.empty() ? refused.problem.detail.value_or("") : std::string{words.text}},
         {"wait", wait},
         {"again", again ? repeat_form_of(refused) : Markup{}},
         {"actions", actions_of(refused)}}
    );
    return page;
}

Page nothing_there_page() {
    const Problem problem{
        .type = "/errors/not-found",
        .title = "",
        .status = 404,
        .detail = {},
        .retry = false,
        .code = {}};
    return problem_page(
        {.problem = problem,
         .key = {},
         .form_token = {},
         .form = {},
         .retry_after = {},
         .booking = false,
         .looked = true}
    );
}

Page sign_in_page(std::string_view next, bool wrong, std::string_view why) {
    Markup notice;
    if (wrong) why = "No rider has this address and this token.";
    if (!why.empty())
        notice = fill(
            "<div class=\"notice bad\" role=\"alert\" id=\"wrong\"><p>{why}</p></div>\n",
            {{"why", why}}
        );
    Page page{.title = "Sign in"};
    page.content = fill(
        sign_in_form,
        {{"notice", notice},
         {"next", next},
         {"invalid", wrong ? Markup{" aria-invalid=\"true\" autofocus"} : Markup{}}}
    );
    return page;
}

}  // namespace rides
