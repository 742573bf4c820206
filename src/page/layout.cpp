#include "src/page/layout.hpp"

#include "src/page/files.hpp"
#include "src/page/views.hpp"

#include <boost/json/serialize.hpp>

#include <utility>

namespace pawl::page {

namespace {

constexpr std::string_view policy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

Html navigation(const Whole& page) {
    Html tabs;
    for (const auto& view : views()) {
        if (view.tab.empty()) continue;
        Attributes attributes{{"href", std::string{view.path}}};
        const bool here = view.path == page.path ||
                          (view.path != "/" && page.path.starts_with(std::string{view.path} + "/"));
        if (here) attributes.push_back({"aria-current", "page"});
        tabs += element("li", element("a", std::move(attributes), view.tab));
    }
    return element("nav", {{"aria-label", "Main"}}, element("ul", tabs));
}

Html who(const Whole& page) {
    if (!page.who) return {};
    return element(
        "form",
        {{"method", "post"}, {"action", "/sign-out"}, {"class", "who"}},
        {element("span", page.who->name + ", " + std::string{name_of(page.who->role)}),
         empty_element(
             "input", {{"type", "hidden"}, {"name", "form_token"}, {"value", page.form_token}}
         ),
         element("button", {{"type", "submit"}}, "Sign out")}
    );
}

Html head(const Whole& page) {
    return element(
        "head",
        {empty_element("meta", {{"charset", "utf-8"}}),
         element("title", page.title + " - Pawl"),
         empty_element(
             "meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}
         ),
         empty_element("link", {{"rel", "stylesheet"}, {"href", "/style.css"}}),
         empty_element("link", {{"rel", "icon"}, {"href", "/icon.svg"}}),
         element("script", {{"src", "/page.js"}, {"defer", ""}}, {})}
    );
}

Html body(const Whole& page) {
    Attributes main{{"id", "main"}, {"tabindex", "-1"}};
    if (page.live) main.push_back({"data-live", ""});
    return element(
        "body",
        {element("a", {{"class", "skip"}, {"href", "#main"}}, "To the content"),
         element(
             "header",
             {element("a", {{"class", "brand"}, {"href", "/"}}, "Pawl"),
              page.who ? navigation(page) : Html{},
              who(page)}
         ),
         // Beside what the script replaces, so that a message is read aloud once and stays.
         page.message.empty()
             ? Html{}
             : element("p", {{"class", "message"}, {"role", "status"}}, page.message),
         element("main", std::move(main), {element("h1", page.title), page.content})}
    );
}

}  // namespace

// A page without a referrer would send its forms with `Origin: null`.
void add_safety(http::Reply& reply) {
    reply.headers.push_back({"Content-Security-Policy", std::string{policy}});
    reply.headers.push_back({"X-Content-Type-Options", "nosniff"});
    reply.headers.push_back({"Referrer-Policy", "same-origin"});
    reply.headers.push_back({"Cross-Origin-Opener-Policy", "same-origin"});
    reply.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
    reply.headers.push_back({"Cache-Control", "no-store"});
}

http::Reply page_reply(const Whole& page) {
    const auto html = element("html", {{"lang", "en"}}, {head(page), body(page)});
    http::Reply reply{
        .status = page.status,
        .headers = {{"Content-Type", "text/html; charset=utf-8"}},
        .body = "<!DOCTYPE html>\n" + html.markup() + '\n'};
    add_safety(reply);
    return reply;
}

http::Reply json_reply(int status, const boost::json::value& value) {
    http::Reply reply{
        .status = status,
        .headers = {{"Content-Type", "application/json"}},
        .body = boost::json::serialize(value) + '\n'};
    add_safety(reply);
    return reply;
}

http::Reply see_other(std::string path) {
    http::Reply reply{.status = 303, .headers = {{"Location", std::move(path)}}};
    add_safety(reply);
    return reply;
}

std::optional<http::Reply> file_at(std::string_view path) {
    const auto file = [](std::string_view type, std::string_view content) {
        http::Reply reply{
            .status = 200,
            .headers = {{"Content-Type", std::string{type}}},
            .body = std::string{content}};
        add_safety(reply);
        return reply;
    };
    if (path == "/style.css") return file("text/css; charset=utf-8", style_sheet);
    if (path == "/page.js") return file("text/javascript; charset=utf-8", script);
    if (path == "/icon.svg") return file("image/svg+xml", icon);
    return std::nullopt;
}

}  // namespace pawl::page
