#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::cli {

enum class Severity { ok, note, warning, error };

struct Finding {
    std::string found;
    std::string to_do{};
    std::string_view code{};  // Its page in docs/errors; empty: none.
    std::vector<std::int64_t> ids{};
};

// What `doctor` found, by the check that found it.
class Findings {
public:
    struct Entry {
        std::string_view check;
        Severity severity{};
        Finding finding;
    };

    void begin(std::string_view check) { check_ = check; }
    void add(Severity severity, Finding finding) {
        entries_.push_back({check_, severity, std::move(finding)});
    }
    void ok(std::string found) { add(Severity::ok, {std::move(found)}); }
    void note(Finding finding) { add(Severity::note, std::move(finding)); }
    void warn(Finding finding) { add(Severity::warning, std::move(finding)); }
    void fail(Finding finding) { add(Severity::error, std::move(finding)); }

    std::size_t size() const { return entries_.size(); }
    Severity worst() const;
    // 0: nothing above a note; 1: a warning; 3: an error. 2 means wrong arguments.
    int exit_code() const;
    // The ok ones only if `verbose`.
    void print(std::ostream& out, bool json, bool verbose) const;

private:
    std::string_view check_;
    std::vector<Entry> entries_;
};

}  // namespace pawl::cli
