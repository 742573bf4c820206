#include "src/trace/headers_file.hpp"

#include <pawl/log.hpp>

#include "src/http/transfer.hpp"

#include <fstream>
#include <stdexcept>

namespace pawl::trace {

std::vector<Header> read_headers(const std::string& file) {
    if (file.empty()) return {};
    log::warn_if_others_can_read("file of the collector's headers", file);
    std::ifstream lines{file};
    if (!lines) throw std::invalid_argument{"the file " + file + " can't be read"};
    std::vector<Header> headers;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line[0] == '#') continue;
        const auto colon = line.find(':');
        const auto value = line.find_first_not_of(' ', colon == line.npos ? colon : colon + 1);
        const bool has_both = colon != line.npos && colon > 0 && value != line.npos;
        if (has_both) headers.push_back({line.substr(0, colon), line.substr(value)});
        if (!has_both || line.find(' ') < colon || http::problem_of({.headers = headers}))
            throw std::invalid_argument{
                "line " + std::to_string(number) + " of " + file + " is no header: NAME: VALUE"};
    }
    return headers;
}

}  // namespace pawl::trace
