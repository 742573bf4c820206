#include "apps/rides/csv.hpp"

#include <string_view>

namespace rides {

namespace {

constexpr std::string_view formula = "=+-@\t\r";

std::string csv_cell(const std::string& text) {
    std::string cell;
    if (!text.empty() && formula.find(text.front()) != formula.npos) cell = "'";
    cell += text;
    if (cell.find_first_of(",\"\r\n") == cell.npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

}  // namespace

void print_csv(std::ostream& out, const std::vector<std::string>& cells) {
    std::string_view separator;
    for (const auto& cell : cells) {
        out << separator << csv_cell(cell);
        separator = ",";
    }
    out << "\r\n";
}

}  // namespace rides
