#include "src/queue/kafka/history.hpp"

#include <pawl/detail/json.hpp>

#include "src/base/time_text.hpp"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::queue::kafka {

namespace {

struct Entry {
    std::string at;
    std::optional<std::string> error;
    std::optional<std::string> merged_by;
};
using Entries = std::vector<Entry>;

constexpr std::size_t latest = 20;

std::string with_entry(std::string_view history, Entry entry) {
    Entries entries;
    auto read = detail::decode<Entries>(history);
    if (auto* before = std::get_if<Entries>(&read)) entries = std::move(*before);
    while (entries.size() > latest) entries.erase(entries.begin() + 1);
    entries.push_back(std::move(entry));
    auto text = detail::encode(entries);
    while (text.size() > history_bytes_max && entries.size() > 2) {
        entries.erase(entries.begin() + 1);
        text = detail::encode(entries);
    }
    return text;
}

}  // namespace

std::string with_failure(std::string_view history, TimePoint at, std::string_view error) {
    return with_entry(history, {base::time_text(at), std::string{error}, std::nullopt});
}

std::string with_merge(std::string_view history, TimePoint at, std::string_view by) {
    return with_entry(history, {base::time_text(at), std::nullopt, std::string{by}});
}

}  // namespace pawl::queue::kafka
