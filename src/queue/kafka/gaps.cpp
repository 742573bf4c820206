#include "src/queue/kafka/gaps.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::queue::kafka {

namespace {

constexpr std::string_view form = "1:";

}  // namespace

std::string write_gaps(
    std::int64_t base,
    std::int64_t next,
    const std::vector<std::int64_t>& open,
    std::size_t bytes_max
) {
    std::string text{form};
    std::int64_t at = base;
    for (std::size_t i = 0; i < open.size();) {
        // A run of open offsets, and the run of done ones after it.
        const auto begin = open[i];
        auto end = begin;
        while (i < open.size() && open[i] == end) ++end, ++i;
        const auto behind = i < open.size() ? open[i] : next;
        auto both = text.size() > form.size() ? std::string{","} : std::string{};
        both += std::to_string(end - begin) + "," + std::to_string(behind - end);
        if (begin != at || text.size() + both.size() > bytes_max) break;
        if (behind > end) text += both;
        at = behind;
    }
    return text.size() > form.size() ? text : std::string{};
}

std::vector<Offsets> read_gaps(std::int64_t base, std::string_view text) {
    std::vector<Offsets> done;
    if (!text.starts_with(form)) return done;
    text.remove_prefix(form.size());
    bool is_done = false;
    while (!text.empty()) {
        std::int64_t length = 0;
        const auto word = text.substr(0, text.find(','));
        const auto* end = word.data() + word.size();
        const auto read = std::from_chars(word.data(), end, length);
        if (read.ec != std::errc{} || read.ptr != end || length < 1) return {};
        if (is_done) done.emplace_back(base, base + length);
        base += length;
        is_done = !is_done;
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return done;
}

}  // namespace pawl::queue::kafka
