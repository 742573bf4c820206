#pragma once

#include "src/http/head_check.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::http {

using PathParameters = std::vector<std::pair<std::string, std::string>>;

// Patterns such as "/rides/{id}/refund": a segment in braces matches any one segment that is not
// empty.
template <class Target>
class Routes {
public:
    struct NotFound {};
    struct MethodNotAllowed {
        std::string allow;  // "GET, HEAD, POST"
    };
    struct Match {
        const Target* target{};
        const std::string* pattern{};
        PathParameters parameters;
    };
    using Found = std::variant<NotFound, MethodNotAllowed, Match>;

    void add(std::string method, std::string pattern, Target target) {
        entries_.push_back({std::move(method), segments_of(pattern), pattern, std::move(target)});
    }

    // HEAD is served where GET is. `path` is as it was sent and already validated. It is split into
    // segments before its escapes are decoded, so that %2F does not separate segments.
    Found find(std::string_view method, std::string_view path) const {
        std::string allow;
        auto wanted = segments_of(path);
        for (auto& segment : wanted)
            if (segment.find('%') != segment.npos) segment = decode_path(segment).value_or("");
        for (const auto& entry : entries_) {
            PathParameters parameters;
            if (!matches(entry.segments, wanted, parameters)) continue;
            if (entry.method == method || (method == "HEAD" && entry.method == "GET"))
                return Match{&entry.target, &entry.pattern, std::move(parameters)};
            const auto served = entry.method == "GET" ? "GET, HEAD" : entry.method;
            if (allow.find(served) == std::string::npos)
                allow += (allow.empty() ? "" : ", ") + served;
        }
        if (allow.empty()) return NotFound{};
        return MethodNotAllowed{std::move(allow)};
    }

    // f(method, pattern, target) for each route, in the order in which they were added.
    template <class F>
    void for_each(F f) const {
        for (const auto& entry : entries_) f(entry.method, entry.pattern, entry.target);
    }

private:
    using Segments = std::vector<std::string>;
    struct Entry {
        std::string method;
        Segments segments;
        std::string pattern;
        Target target;
    };

    static Segments segments_of(std::string_view path) {
        Segments segments;
        std::size_t from = 1;
        while (from <= path.size()) {
            const auto to = std::min(path.find('/', from), path.size());
            segments.emplace_back(path.substr(from, to - from));
            from = to + 1;
        }
        return segments;
    }

    static bool matches(const Segments& pattern, const Segments& path, PathParameters& parameters) {
        if (pattern.size() != path.size()) return false;
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const auto& p = pattern[i];
            const bool any = p.size() > 2 && p.front() == '{' && p.back() == '}';
            if (any && path[i].empty()) return false;
            if (!any && p != path[i]) return false;
            if (any) parameters.emplace_back(p.substr(1, p.size() - 2), path[i]);
        }
        return true;
    }

    std::vector<Entry> entries_;
};

}  // namespace pawl::http
