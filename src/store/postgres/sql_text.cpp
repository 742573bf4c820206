#include "src/store/postgres/sql_text.hpp"

#include <pawl/statement.hpp>

#include "src/core/ascii.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace pawl::postgres {

namespace {

constexpr std::string_view forbidden =
    "abort begin commit copy deallocate discard end execute listen prepare release savepoint start "
    "unlisten";

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view word_at(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    return text.substr(at, end - at);
}

// The end of a body such as $$...$$ or $tag$...$tag$; `at` if none begins there.
std::size_t past_dollar_body(std::string_view text, std::size_t at) {
    const auto tag = word_at(text, at + 1);
    const auto mark = text.substr(at, tag.size() + 2);
    if (text[at] != '$' || mark.size() < tag.size() + 2 || mark.back() != '$') return at;
    const auto end = text.find(mark, at + mark.size());
    return end == text.npos ? text.size() : end + mark.size();
}

std::size_t past_space(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
    return at;
}

// SET LOCAL and SET CONSTRAINTS end with the transaction, and ROLLBACK TO is a savepoint's.
bool is_forbidden(std::string_view text, std::string_view word) {
    const auto found = core::lower_text(word);
    if (found == "set" || found == "reset") {
        const auto behind = static_cast<std::size_t>(word.data() - text.data()) + word.size();
        const auto next = core::lower_text(word_at(text, past_space(text, behind)));
        return next != "local" && next != "constraints";
    }
    return found == "rollback" || core::has_word(forbidden, found);
}

// Adds `by` to the number of each parameter.
std::string renumbered(std::string_view text, int by) {
    std::string changed;
    for (std::size_t i = 0; i < text.size();) {
        auto past = pawl::detail::past_quiet(text, i);
        if (past == i && text[i] == '$') {
            int number = 0;
            const auto* const end = text.data() + text.size();
            const auto [next, error] = std::from_chars(text.data() + i + 1, end, number);
            past = static_cast<std::size_t>(next - text.data());
            changed += '$' + (error == std::errc{} ? std::to_string(number + by) : "");
        } else {
            past = std::max(past, i + 1);
            changed += text.substr(i, past - i);
        }
        i = past;
    }
    return changed;
}

}  // namespace

std::string_view first_statement(std::string_view script) {
    int depth = 0;  // Of brackets: CREATE RULE has statements in them.
    for (std::size_t i = 0; i < script.size();) {
        auto past = detail::past_quiet(script, i);
        if (past == i) past = past_dollar_body(script, i);
        if (script[i] == '(') ++depth;
        if (script[i] == ')') --depth;
        if (script[i] == ';' && depth == 0) return script.substr(0, i + 1);
        i = std::max(past, i + 1);
    }
    return script;
}

bool needs_own_transaction(std::string_view text) {
    constexpr std::string_view words = "constraints cursor declare set_config temp temporary local";
    for (std::size_t i = 0; i < text.size();) {
        auto past = detail::past_quiet(text, i);
        if (past == i) past = past_dollar_body(text, i);
        if (past == i && is_letter(text[i])) {
            const auto word = word_at(text, i);
            past = i + word.size();
            if (core::has_word(words, core::lower_text(word))) return true;
        }
        i = std::max(past, i + 1);
    }
    return false;
}

std::string_view forbidden_word(std::string_view text) {
    bool first = true;  // First word of a statement.
    for (std::size_t i = 0; i < text.size();) {
        auto past = detail::past_quiet(text, i);
        if (past == i) past = past_dollar_body(text, i);
        if (past != i) {
            const bool comment = text[i] == '-' || text[i] == '/';
            first = first && comment;
            i = past;
            continue;
        }
        if (first && is_letter(text[i])) {
            const auto word = word_at(text, i);
            if (is_forbidden(text, word)) return word;
            first = false;
            i += word.size();
            continue;
        }
        if (text[i] == ';') first = true;
        ++i;
    }
    return {};
}

std::string fence_text(std::string_view text) {
    const std::array<StatementPart, 1> fence{{{text, true}}};
    return combined_text(fence);
}

std::string combined_text(std::span<const StatementPart> parts) {
    std::string text;
    std::string main;
    int parameters = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& [part, is_fence] = parts[i];
        auto own = renumbered(part, parameters);
        parameters += detail::parameters_in(part);
        const auto is_last = i + 1 == parts.size();
        if (is_last && main.empty() && !is_fence) {
            main = std::move(own);
            break;
        }
        text += text.empty() ? "WITH " : ", ";
        // tidy: allow sql: wraps constants of .sql files
        text += is_fence ? "fenced AS (" + own + " RETURNING 1)"
                         : "part_" + std::to_string(i) + " AS (" + own + ")";
        if (is_fence) main = "SELECT 1 / (EXISTS (SELECT FROM fenced))::int";
    }
    return text + (text.empty() ? "" : " ") + main;
}

}  // namespace pawl::postgres
