#pragma once

#include <pawl/response.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// HTML by forms with named slots. The type says what is HTML: a Markup goes in as it is, any other
// text is escaped, so that nothing a rider writes is ever read as HTML.
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

// `form` with each {name} replaced; all slots of the form are given, and no others (assertion). A
// form has no other braces.
Markup fill(std::string_view form, std::initializer_list<std::pair<std::string_view, Slot>> slots);

// A whole page.
struct Page {
    int status{200};
    std::string title{};
    Markup content{};
    int refresh_s{0};     // 0: it stays as it is. A browser asks again by itself, without script.
    std::string rider{};  // Whose e-mail address stands in the head; empty: nobody is signed in.
    std::string form_token{};  // For signing out.
};
pawl::Response page_response(const Page& page);

// To another page, by GET (303 See Other). `path` is ours: "/rides/7".
pawl::Response see_other(std::string path);

// What every page and every file beside it is sent with: nothing of another origin is loaded, no
// script runs, nobody frames it, forms go to us alone.
void add_safety(pawl::Response& response);

}  // namespace rides
