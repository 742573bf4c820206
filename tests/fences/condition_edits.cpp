#include "tests/fences/condition_edits.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace pawl::fences {

namespace {

struct Token {
    std::size_t begin{};
    std::string_view text;
    std::size_t end() const { return begin + text.size(); }
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t token_end(std::string_view text, std::size_t at) {
    static constexpr std::array<std::string_view, 9> operators{
        "<=", ">=", "<>", "->>", "->", "||", "::", "=", "<"};
    if (text[at] == '\'') return text.find('\'', at + 1) + 1;
    if (is_word(text[at]) || text[at] == '$') {
        auto end = at + 1;
        while (end < text.size() && is_word(text[end])) ++end;
        return end;
    }
    for (const auto one : operators)
        if (text.substr(at, one.size()) == one) return at + one.size();
    return at + 1;
}

std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    for (std::size_t at = 0; at < text.size();) {
        if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
            ++at;
        } else {
            const auto end = token_end(text, at);
            tokens.push_back({at, text.substr(at, end - at)});
            at = end;
        }
    }
    return tokens;
}

// What is between two parentheses, or the whole statement.
struct Group {
    bool compares{};  // Conditions stand here.
    bool is_list{};   // A comma: not a condition.
    bool between{};   // The next AND belongs to a BETWEEN.
    bool has_or{};
    std::size_t open{};                // Offset of its parenthesis.
    std::optional<std::size_t> begin;  // Token at which the current condition begins.
    std::vector<std::pair<std::size_t, std::size_t>> conditions;  // First and last token.
};

class Editor {
public:
    explicit Editor(std::string_view text) : text_{text}, tokens_{tokens_of(text)} {}

    std::vector<Edit> edits() {
        groups_.emplace_back();
        for (std::size_t at = 0; at < tokens_.size(); ++at) read(at);
        close(tokens_.size());
        return std::move(edits_);
    }

private:
    void read(std::size_t at) {
        static const std::set<std::string_view> begins{"WHERE", "ON", "WHEN", "HAVING"};
        static const std::set<std::string_view> ends{
            "THEN", "ELSE",   "END",       "GROUP", "ORDER",  "LIMIT", "SET",
            "FROM", "SELECT", "RETURNING", "UNION", "VALUES", "DO",    "FOR",
            "JOIN", "LEFT",   "CROSS",     "INNER", "FULL",   "WITH",  ";"};
        const auto word = tokens_[at].text;
        auto& group = groups_.back();
        if (word == "(") return open(at);
        if (word == ")") {
            close(at);
            groups_.pop_back();
            return;
        }
        if (begins.contains(word) || ends.contains(word)) {
            end_condition(at);
            finish(group);
            group.compares = begins.contains(word) && !is_conflict(at);
            return;
        }
        if (!group.compares) return;
        if (word == ",") group.is_list = true;
        if (word == "BETWEEN") group.between = true;
        if (word == "AND" && std::exchange(group.between, false)) return;
        if (word == "AND" || word == "OR") {
            group.has_or |= word == "OR";
            return end_condition(at);
        }
        if (!group.begin) group.begin = at;
    }

    bool is_conflict(std::size_t at) const {
        return at + 1 < tokens_.size() && tokens_[at + 1].text == "CONFLICT";
    }

    void open(std::size_t at) {
        auto& above = groups_.back();
        Group inner;
        // A parenthesis at the begin of a condition, or after NOT, holds conditions.
        const bool first = !above.begin || tokens_[at - 1].text == "NOT";
        inner.compares = above.compares && first;
        inner.open = tokens_[at].begin;
        if (above.compares && !above.begin) above.begin = at;
        groups_.push_back(std::move(inner));
    }

    void close(std::size_t at) {
        auto& group = groups_.back();
        end_condition(at);
        if (group.has_or && group.compares && at < tokens_.size())
            add("without parentheses",
                group.open,
                tokens_[at].end(),
                " " +
                    std::string{text_.substr(group.open + 1, tokens_[at].begin - group.open - 1)} +
                    " ");
        finish(group);
    }

    void end_condition(std::size_t at) {
        auto& group = groups_.back();
        if (group.begin) group.conditions.emplace_back(*group.begin, at - 1);
        group.begin.reset();
    }

    void finish(Group& group) {
        if (!group.is_list)
            for (const auto& [first, last] : group.conditions) edit(first, last, group.has_or);
        group.conditions.clear();
        group.has_or = false;
    }

    void edit(std::size_t first, std::size_t last, bool one_of_several) {
        const auto begin = tokens_[first].begin;
        const auto end = tokens_[last].end();
        const std::string condition{text_.substr(begin, end - begin)};
        add("drop", begin, end, "(" + condition + " OR 1 = 1)");
        if (one_of_several) add("never", begin, end, "(" + condition + " AND 1 = 0)");
        static const std::map<std::string_view, std::vector<std::string>> others{
            {"=", {"<=", ">="}},
            {"<", {"<="}},
            {">", {">="}},
            {"<=", {"<"}},
            {">=", {">"}},
            {"<>", {"<", ">"}}};
        int depth = 0;
        for (auto at = first; at < last; ++at) {
            depth += tokens_[at].text == "(" ? 1 : tokens_[at].text == ")" ? -1 : 0;
            const auto found = others.find(tokens_[at].text);
            if (depth != 0 || found == others.end() || tokens_[at + 1].text.front() == '\'')
                continue;
            for (const auto& other : found->second)
                add(other + " in",
                    begin,
                    end,
                    std::string{text_.substr(begin, tokens_[at].begin - begin)} + other +
                        std::string{text_.substr(tokens_[at].end(), end - tokens_[at].end())});
        }
    }

    void add(
        const std::string& what, std::size_t begin, std::size_t end, const std::string& becomes
    ) {
        std::string part;  // On one line.
        for (const char c : text_.substr(begin, end - begin))
            if (const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
                !blank || (!part.empty() && part.back() != ' '))
                part += blank ? ' ' : c;
        auto name = what + " `" + part + "`";
        if (const auto times = ++names_[name]; times > 1)
            name += ", number " + std::to_string(times);
        edits_.push_back(
            {std::move(name),
             std::string{text_.substr(0, begin)} + becomes + std::string{text_.substr(end)}}
        );
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    std::vector<Group> groups_;
    std::vector<Edit> edits_;
    std::map<std::string, int> names_;
};

}  // namespace

std::vector<Edit> condition_edits(std::string_view statement) {
    return Editor{statement}.edits();
}

}  // namespace pawl::fences
