#include "apps/rides/pages/markup.hpp"

#include <algorithm>
#include <stdexcept>

namespace rides {

namespace {

constexpr std::string_view layout = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">{refresh}
<title>{title} – Rocket Rides</title>
<link rel="stylesheet" href="/pages.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/"><img src="/icon.svg" alt="" width="32" height="32">Rocket Rides</a>{rider}
</header>
<main id="content">
{content}
</main>
<footer>However often you send a form, it books one ride.</footer>
</body>
</html>
)";

constexpr std::string_view signed_in = R"(
<nav aria-label="Account">
<a href="/rides">Your rides</a>
<span class="rider">{email}</span>
<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="{token}">
<button class="quiet">Sign out</button>
</form>
</nav>)";

}  // namespace

Markup escaped(std::string_view text) {
    Markup out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out.text += "&amp;";
                break;
            case '<':
                out.text += "&lt;";
                break;
            case '>':
                out.text += "&gt;";
                break;
            case '"':
                out.text += "&quot;";
                break;
            case '\'':
                out.text += "&#39;";
                break;
            default:
                out.text += c;
        }
    }
    return out;
}

namespace {

void check(bool right) {
    if (!right) throw std::logic_error{"rides: a page's form and its slots differ"};
}

}  // namespace

Markup fill(std::string_view form, std::initializer_list<std::pair<std::string_view, Slot>> slots) {
    Markup out;
    std::size_t filled = 0;
    while (true) {
        const auto open = std::min(form.find('{'), form.size());
        out.text += form.substr(0, open);
        if (open == form.size()) break;
        const auto close = form.find('}', open);
        check(close != form.npos);
        const auto name = form.substr(open + 1, close - open - 1);
        const auto slot = std::find_if(slots.begin(), slots.end(), [name](const auto& one) {
            return one.first == name;
        });
        check(slot != slots.end());
        out.text += slot->second.text();
        ++filled;
        form.remove_prefix(close + 1);
    }
    check(filled >= slots.size());
    return out;
}

pawl::Response page_response(const Page& page) {
    Markup refresh;
    if (page.refresh_s > 0)
        refresh = fill(
            "\n<meta http-equiv=\"refresh\" content=\"{s}\">",
            {{"s", std::to_string(page.refresh_s)}}
        );
    Markup rider;
    if (!page.rider.empty())
        rider = fill(signed_in, {{"email", page.rider}, {"token", page.form_token}});
    pawl::Response response{
        .status = page.status,
        .body = fill(
                    layout,
                    {{"refresh", refresh},
                     {"title", page.title},
                     {"rider", rider},
                     {"content", page.content}}
        ).text,
        .content_type = "text/html; charset=utf-8"};
    add_safety(response);
    return response;
}

pawl::Response see_other(std::string path) {
    pawl::Response response{.status = 303, .body = "", .content_type = "text/plain"};
    response.headers.push_back({"Location", std::move(path)});
    add_safety(response);
    return response;
}

void add_safety(pawl::Response& response) {
    response.headers.insert(
        response.headers.end(),
        {{"Content-Security-Policy",
          "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri "
          "'none'; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"X-Frame-Options", "DENY"},
         {"Referrer-Policy", "same-origin"},
         {"Cross-Origin-Opener-Policy", "same-origin"},
         {"Cross-Origin-Resource-Policy", "same-origin"}}
    );
}

}  // namespace rides
