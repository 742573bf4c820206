#include "src/page/html.hpp"

#include <pawl/visible_text.hpp>

namespace pawl::page {

namespace {

std::string escaped(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (const char c : text) switch (c) {
            case '&':
                made += "&amp;";
                break;
            case '<':
                made += "&lt;";
                break;
            case '>':
                made += "&gt;";
                break;
            case '"':
                made += "&quot;";
                break;
            case '\'':
                made += "&#39;";
                break;
            default:
                made += c;
        }
    return made;
}

}  // namespace

Html::Html(std::string_view text) : markup_{escaped(visible_text(std::string{text}))} {}

Html::Html(std::initializer_list<Html> parts) {
    for (const auto& part : parts) markup_ += part.markup_;
}

Html& Html::operator+=(const Html& more) {
    markup_ += more.markup_;
    return *this;
}

void Html::open(std::string_view name, const std::vector<Attribute>& attributes) {
    markup_ += '<';
    markup_ += name;
    for (const auto& [attribute, value] : attributes) {
        markup_ += ' ';
        markup_ += attribute;
        markup_ += "=\"" + escaped(value) + '"';
    }
    markup_ += '>';
}

Html element(std::string_view name, Attributes attributes, const Html& content) {
    Html made;
    made.open(name, attributes);
    made.markup_ += content.markup_ + "</";
    made.markup_ += name;
    made.markup_ += '>';
    return made;
}

Html empty_element(std::string_view name, Attributes attributes) {
    Html made;
    made.open(name, attributes);
    return made;
}

Html link(std::string href, const Html& content) {
    return element("a", {{"href", std::move(href)}}, content);
}

}  // namespace pawl::page
