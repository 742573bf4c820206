#include "src/cli/output.hpp"

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/base/visible_text.hpp"

#include <boost/json/serialize.hpp>
#include <unistd.h>

#include <iostream>
#include <utility>

namespace pawl::cli {

namespace {

constexpr std::size_t line_max = 160;
constexpr std::size_t padded_max = 100;  // One long value does not make all rows long.

std::string upper(std::string name) {
    for (auto& c : name) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        if (c == '_') c = ' ';
    }
    return name;
}

// Characters that a terminal reads as a command, or a table as a new line, become dots: keys come
// from clients.
std::string plain(std::string text) {
    for (auto& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '.';
    return text;
}

void print_line(
    std::ostream& out, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths
) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += plain(cells[i]);
        if (i + 1 < cells.size())
            line.append(widths[i] - std::min(widths[i], cells[i].size()) + 2, ' ');
    }
    if (line.size() > line_max && is_terminal(out))
        line = std::string{base::cut(line, line_max - 3)} + "...";
    out << line << '\n';
}

}  // namespace

bool is_terminal(const std::ostream& stream) {
    const auto* out = std::cout.rdbuf();    // tidy: allow console: it is compared, not written to
    const auto* error = std::cerr.rdbuf();  // tidy: allow console: it is compared, not written to
    const auto* buffer = raw_buffer(stream);
    return (buffer == out && ::isatty(STDOUT_FILENO) == 1) ||
           (buffer == error && ::isatty(STDERR_FILENO) == 1);
}

std::streambuf* raw_buffer(const std::ostream& stream) {
    const auto* visible = dynamic_cast<base::VisibleOutput*>(stream.rdbuf());
    return visible != nullptr ? &visible->to() : stream.rdbuf();
}

std::string bounded(std::string text, std::size_t bytes_max) {
    if (!base::is_utf8(text)) {
        std::string valid;
        for (std::string_view left = text; !left.empty();) {
            const auto length = base::character_length(left);
            valid += length == 0 ? std::string_view{"\xEF\xBF\xBD"} : left.substr(0, length);
            left.remove_prefix(std::max<std::size_t>(length, 1));
        }
        text = std::move(valid);
    }
    if (text.size() <= bytes_max) return text;
    return std::string{base::cut(text, bytes_max)} + "... (" + std::to_string(text.size()) +
           " bytes)";
}

std::optional<std::string> text_of_time(const std::optional<TimePoint>& at) {
    if (!at) return std::nullopt;
    return base::time_text(*at);
}

void print_table(
    std::ostream& out,
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows
) {
    std::vector<std::string> names;
    std::vector<std::size_t> widths;
    for (const auto& name : header) {
        names.push_back(upper(name));
        widths.push_back(name.size());
    }
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], std::min(row[i].size(), padded_max));
    print_line(out, names, widths);
    for (const auto& row : rows) print_line(out, row, widths);
}

void print_json(std::ostream& out, const boost::json::value& value) {
    out << boost::json::serialize(value) << '\n';
}

void print_choice(
    std::ostream& out, std::int64_t chosen, std::int64_t shown, std::string_view what
) {
    if (chosen == 0) return;
    out << "The choice has " << chosen << ' ' << what << (chosen == 1 ? "" : "s")
        << (chosen > shown ? "; these are the first" : "") << ".\n";
}

}  // namespace pawl::cli
