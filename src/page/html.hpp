#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Markup of which every text is escaped: no text of a row can become an element or an attribute.
namespace pawl::page {

class Html {
public:
    Html() = default;
    // NOLINTNEXTLINE: a text stands wherever markup does; escaped, and as visible_text().
    Html(std::string_view text);
    Html(const std::string& text) : Html(std::string_view{text}) {}  // NOLINT
    Html(const char* text) : Html(std::string_view{text}) {}         // NOLINT
    Html(std::initializer_list<Html> parts);

    Html& operator+=(const Html& more);
    bool empty() const { return markup_.empty(); }
    const std::string& markup() const { return markup_; }

private:
    struct Attribute {
        std::string_view name;  // Of our own sources.
        std::string value;
    };
    std::string markup_;

    friend Html element(std::string_view, std::vector<Attribute>, const Html&);
    friend Html empty_element(std::string_view, std::vector<Attribute>);
    void open(std::string_view name, const std::vector<Attribute>& attributes);

public:
    using Attributes = std::vector<Attribute>;
};

using Attributes = Html::Attributes;

// <name ...>content</name>. An attribute without a value is written as `name=""`.
Html element(std::string_view name, Attributes attributes, const Html& content);
inline Html element(std::string_view name, const Html& content) {
    return element(name, {}, content);
}
Html empty_element(std::string_view name, Attributes attributes);  // <input ...>
Html link(std::string href, const Html& content);

}  // namespace pawl::page
