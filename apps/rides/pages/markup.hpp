#pragma once

#include <pawl/response.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// HTML templates with named slots. The type says whether a text is HTML: a Markup is inserted
// unchanged, any other text is escaped, so that a rider's input is never read as HTML.
namespace rides {

struct Markup {
    std::string text;
    Markup& operator+=(const Markup& more) {
        text += more.text;
        return *this;
    }
};

// For element content and for attribute values in double quotation marks.
Markup escaped(std::string_view text);

class Slot {
public:
    Slot(const Markup& markup) : text_{markup.text} {}               // NOLINT: a slot takes either
    Slot(std::string_view text) : text_{escaped(text).text} {}       // NOLINT
    Slot(const std::string& text) : Slot{std::string_view{text}} {}  // NOLINT
    Slot(const char* text) : Slot{std::string_view{text}} {}         // NOLINT
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

// `form` with each {name} replaced. The slots must be exactly those of the form (assertion). A form
// has no other braces.
Markup fill(std::string_view form, std::initializer_list<std::pair<std::string_view, Slot>> slots);

// A whole page.
struct Page {
    int status{200};
    std::string title{};
    Markup content{};
    int refresh_s{0};          // 0: no refresh. The browser reloads by itself, without a script.
    std::string rider{};       // The rider's e-mail address in the header; empty: not signed in.
    std::string form_token{};  // For signing out.
};
pawl::Response page_response(const Page& page);

// Redirects to another page by GET (303 See Other). `path` is ours: "/rides/7".
pawl::Response see_other(std::string path);

// Security headers of every page and file: no content of another origin is loaded, no script runs,
// no site may frame it, forms go to us only.
void add_safety(pawl::Response& response);

}  // namespace rides
