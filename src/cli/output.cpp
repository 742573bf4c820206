#include "src/cli/output.hpp"

#include "src/base/text.hpp"
#include "src/base/time_text.hpp"

#include <boost/json/serialize.hpp>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace pawl::cli {

namespace {

constexpr std::size_t line_max = 160;

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
    const auto* out = &std::cout;    // tidy: allow console: it is compared, not written to
    const auto* error = &std::cerr;  // tidy: allow console: it is compared, not written to
    return (&stream == out && ::isatty(STDOUT_FILENO) == 1) ||
           (&stream == error && ::isatty(STDERR_FILENO) == 1);
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
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    print_line(out, names, widths);
    for (const auto& row : rows) print_line(out, row, widths);
}

void print_json(std::ostream& out, const boost::json::value& value) {
    out << boost::json::serialize(value) << '\n';
}

}  // namespace pawl::cli
