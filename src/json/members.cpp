#include "src/json/members.hpp"

#include "src/base/text.hpp"
#include "src/json/surrogates.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <utility>

namespace pawl::json {

namespace {

// Accepts all and stores nothing: only checks that the text is JSON.
struct Nothing {
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    using Error = boost::json::error_code;
    using View = boost::json::string_view;
    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_array_begin(Error&) { return true; }
    bool on_array_end(std::size_t, Error&) { return true; }
    bool on_object_begin(Error&) { return true; }
    bool on_object_end(std::size_t, Error&) { return true; }
    bool on_string_part(View, std::size_t, Error&) { return true; }
    bool on_string(View, std::size_t, Error&) { return true; }
    bool on_key_part(View, std::size_t, Error&) { return true; }
    bool on_key(View, std::size_t, Error&) { return true; }
    bool on_number_part(View, Error&) { return true; }
    bool on_int64(std::int64_t, View, Error&) { return true; }
    bool on_uint64(std::uint64_t, View, Error&) { return true; }
    bool on_double(double, View, Error&) { return true; }
    bool on_bool(bool, Error&) { return true; }
    bool on_null(Error&) { return true; }
    bool on_comment_part(View, Error&) { return true; }
    bool on_comment(View, Error&) { return true; }
};

// Walks over a text that is known to be JSON, which makes the ends of values easy to find.
class JsonScanner {
public:
    explicit JsonScanner(std::string_view text) : text_{text} { skip_space(); }

    // Skips one letter, if it is there, and the space after it.
    bool take(char letter) {
        if (at_ >= text_.size() || text_[at_] != letter) return false;
        ++at_;
        skip_space();
        return true;
    }
    // Skips a value of any kind and the space after it.
    std::string_view value() {
        const auto begin = at_;
        if (text_[at_] == '"')
            skip_string();
        else if (text_[at_] == '{' || text_[at_] == '[')
            skip_nested();
        else
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        const auto found = text_.substr(begin, at_ - begin);
        skip_space();
        return found;
    }

private:
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    void skip_string() {
        for (++at_; text_[at_] != '"'; ++at_)
            if (text_[at_] == '\\') ++at_;
        ++at_;
    }
    void skip_nested() {
        std::size_t depth = 0;
        do {
            const char letter = text_[at_];
            if (letter == '"') {
                skip_string();
                continue;
            }
            if (letter == '{' || letter == '[') ++depth;
            if (letter == '}' || letter == ']') --depth;
            ++at_;
        } while (depth > 0);
    }

    std::string_view text_;
    std::size_t at_{0};
};

}  // namespace

bool is_json(std::string_view text, std::size_t levels) {
    boost::json::parse_options options;
    options.max_depth = levels;
    boost::json::basic_parser<Nothing> parser{options};
    boost::json::error_code ec;
    std::string replaced;
    const auto paired = replace_lone_surrogates(text, replaced);
    const auto read = parser.write_some(false, paired.data(), paired.size(), ec);
    return !ec && read == paired.size();
}

std::optional<std::string_view> Members::find(std::string_view name) const {
    const Member* last = nullptr;
    for (const auto& member : members_)
        if (member.name == name) last = &member;
    if (last == nullptr || last->value == "null") return std::nullopt;
    return last->value;
}

void Members::set(std::string_view name, std::string value) {
    const auto named = [&](const Member& member) { return member.name == name; };
    const auto first = std::find_if(members_.begin(), members_.end(), named);
    if (first == members_.end()) {
        members_.push_back({std::string{name}, literal_of(name), std::move(value)});
        return;
    }
    first->value = std::move(value);
    members_.erase(std::remove_if(first + 1, members_.end(), named), members_.end());
}

void Members::erase(std::string_view name) {
    std::erase_if(members_, [&](const Member& member) { return member.name == name; });
}

std::string Members::text() const {
    std::string text{"{"};
    for (const auto& member : members_) {
        if (text.size() > 1) text += ',';
        text.append(member.literal).append(":").append(member.value);
    }
    return text + "}";
}

std::optional<Members> members_of(std::string_view text) {
    if (!is_json(text)) return std::nullopt;
    JsonScanner scanner{text};
    if (!scanner.take('{')) return std::nullopt;
    Members members;
    while (!scanner.take('}')) {
        const auto literal = scanner.value();
        scanner.take(':');
        const auto value = scanner.value();
        members.members_.push_back(
            {string_of(literal).value_or(""), std::string{literal}, std::string{value}}
        );
        scanner.take(',');
    }
    return members;
}

std::optional<std::vector<std::string_view>> items_of(std::string_view text) {
    if (!is_json(text)) return std::nullopt;
    JsonScanner scanner{text};
    if (!scanner.take('[')) return std::nullopt;
    std::vector<std::string_view> items;
    while (!scanner.take(']')) {
        items.push_back(scanner.value());
        scanner.take(',');
    }
    return items;
}

std::optional<std::string> string_of(std::string_view text) {
    if (!text.starts_with('"')) return std::nullopt;
    boost::json::error_code ec;
    std::string replaced;
    const auto value = boost::json::parse(replace_lone_surrogates(text, replaced), ec);
    const auto* string = ec ? nullptr : value.if_string();
    if (string == nullptr) return std::nullopt;
    return std::string{string->data(), string->size()};
}

std::string literal_of(std::string_view utf8) {
    std::string literal;
    base::append_string(literal, utf8);
    return literal;
}

}  // namespace pawl::json
