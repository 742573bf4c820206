#include "src/bank/xml_check.hpp"

#include "src/core/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace pawl::bank {

namespace {

// A root element with all its namespaces has less than 1,000.
constexpr std::size_t tag_max = 4'096;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The characters of a file, as far as they are ASCII.
class Characters {
public:
    explicit Characters(std::string_view bytes) : bytes_{bytes} {
        if (bytes.starts_with("\xff\xfe") || bytes.starts_with(std::string_view{"<\0", 2}))
            width_ = 2;
        else if (bytes.starts_with("\xfe\xff") || bytes.starts_with(std::string_view{"\0<", 2}))
            width_ = 2, low_ = 1;
        if (bytes.starts_with("\xef\xbb\xbf")) begin_ = 3;
        if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) begin_ = 1;
    }

    std::size_t begin() const { return begin_; }
    std::size_t size() const { return bytes_.size() / width_; }
    // '\0': there is none, or it is not ASCII.
    char at(std::size_t i) const {
        if (i >= size()) return '\0';
        const auto* unit = bytes_.data() + i * width_;
        if (width_ == 2 && unit[1 - low_] != '\0') return '\0';
        return unit[low_ * (width_ - 1)];
    }
    bool starts_with(std::size_t i, std::string_view text) const {
        for (std::size_t n = 0; n < text.size(); ++n)
            if (at(i + n) != text[n]) return false;
        return true;
    }
    // Behind the next `text`; the end, if there is none.
    std::size_t behind(std::size_t i, std::string_view text) const {
        while (i < size() && !starts_with(i, text)) ++i;
        return std::min(i + text.size(), size());
    }

private:
    std::string_view bytes_;
    std::size_t width_{1};
    std::size_t low_{0};  // The place of a unit's low byte.
    std::size_t begin_{0};
};

// Of a declaration, in any case. Empty: none is declared.
bool allowed_encoding(std::string_view name) {
    // Not utf-16le: libxml2 would go on in it behind a declaration in ASCII, and Characters has
    // read others. It refuses a wrong "utf-16" itself.
    constexpr std::string_view allowed =
        "utf-8 utf8 utf-16 us-ascii iso-8859-1 latin1 iso-8859-15 windows-1252";
    return name.empty() || core::has_word(allowed, core::lower_text(name));
}

// The pseudo-attributes of a declaration (XML 1.0, 2.8, production 23), of which i is behind
// "<?xml".
struct Declared {
    std::size_t end{};
    std::string encoding;
};

// nullopt: it has another form, which libxml2 might read in another way.
std::optional<Declared> declaration(const Characters& text, std::size_t i) {
    constexpr std::size_t value_max = 40;
    const auto skip_blanks = [&] {
        while (is_blank(text.at(i))) ++i;
    };
    Declared found;
    for (const std::string_view name : {"version", "encoding", "standalone"}) {
        const bool apart = is_blank(text.at(i)) || is_blank(text.at(i - 1));
        skip_blanks();
        if (!apart || !text.starts_with(i, name)) {
            if (name == "version") return std::nullopt;
            continue;
        }
        i += name.size();
        skip_blanks();
        if (text.at(i++) != '=') return std::nullopt;
        skip_blanks();
        const char quote = text.at(i++);
        if (quote != '"' && quote != '\'') return std::nullopt;
        std::string value;
        while (text.at(i) != quote) {
            if (text.at(i) == '\0' || value.size() == value_max) return std::nullopt;
            value += text.at(i++);
        }
        ++i;
        if (name == "encoding") found.encoding = std::move(value);
    }
    skip_blanks();
    if (!text.starts_with(i, "?>")) return std::nullopt;
    found.end = i + 2;
    return found;
}

// Behind a tag that begins at i; nullopt: it is too long.
std::optional<std::size_t> behind_tag(const Characters& text, std::size_t i) {
    char quote = '\0';
    for (const auto end = std::min(i + tag_max, text.size()); i < end; ++i) {
        const char c = text.at(i);
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            return i + 1;
        }
    }
    return i < text.size() ? std::nullopt : std::optional{i};
}

}  // namespace

std::optional<std::string> check_xml_bytes(std::string_view bytes) {
    const Characters text{bytes};
    auto i = text.begin();
    if (text.starts_with(i, "<?xml") && is_blank(text.at(i + 5))) {
        const auto declared = declaration(text, i + 5);
        if (!declared) return "its XML declaration is wrong";
        if (!allowed_encoding(declared->encoding))
            return "the encoding is " + declared->encoding + ": UTF-8, UTF-16 or one of 8 bits";
        i = declared->end;
    }
    while (is_blank(text.at(i))) ++i;
    if (text.at(i) != '<' || text.at(i + 1) == '\0') return "it is not XML, or in an odd encoding";
    while ((i = text.behind(i, "<")) < text.size()) {
        if (text.starts_with(i, "!--")) {
            i = text.behind(i + 3, "-->");
        } else if (text.starts_with(i, "![CDATA[")) {
            i = text.behind(i, "]]>");
        } else if (text.at(i) == '?') {
            i = text.behind(i, "?>");
        } else if (text.at(i) == '!') {
            return "it has a DOCTYPE";
        } else if (const auto end = behind_tag(text, i)) {
            i = *end;
        } else {
            return "a tag has more than 4,096 characters";
        }
    }
    return std::nullopt;
}

}  // namespace pawl::bank
