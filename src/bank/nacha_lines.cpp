#include "src/bank/nacha_lines.hpp"

#include "src/bank/nacha_record.hpp"
#include "src/base/text.hpp"

#include <algorithm>
#include <string>

namespace pawl::bank {

namespace {

std::string_view without_blanks(std::string_view line) {
    return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string as_ascii(std::string_view utf8) {
    std::string text;
    while (!utf8.empty()) {
        const auto size = base::character_length(utf8);
        text += size == 1 ? utf8.front() : '?';
        utf8.remove_prefix(size);
    }
    return text;
}

bool is_whole(std::size_t size) {
    return size != 0 && size % record_size == 0;
}

std::size_t records_of(std::size_t size) {
    return std::max<std::size_t>((size + record_size - 1) / record_size, 1);
}

// `only`: the file has no line ends.
std::string filled_line(std::string_view line, bool only) {
    const auto trimmed = without_blanks(line);
    const bool longer = trimmed.size() > record_size;
    std::string one = longer && base::is_utf8(line) ? as_ascii(trimmed) : std::string{trimmed};
    if (one.size() > record_size && is_whole(line.size())) return std::string{line};
    if (one.size() <= record_size || only) one.resize(records_of(one.size()) * record_size, ' ');
    return one;
}

}  // namespace

void read_nacha_records(std::string_view bytes, const OnNachaRecord& on_record) {
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
    bytes = bytes.substr(0, bytes.find_last_not_of("\x1a\r\n") + 1);
    const bool only = bytes.find_first_of("\r\n") == bytes.npos;
    while (!bytes.empty()) {
        const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
        const auto line = bytes.substr(0, end);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (line.starts_with("$$")) continue;
        const auto filled = filled_line(line, only);
        const auto size = is_whole(filled.size()) ? record_size : filled.size();
        for (std::size_t at = 0; at < filled.size(); at += size) {
            const auto record = std::string_view{filled}.substr(at, size);
            if (!without_blanks(record).empty() && !on_record(record)) return;
        }
    }
}

}  // namespace pawl::bank
