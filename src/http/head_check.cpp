#include "src/http/head_check.hpp"

#include "src/base/text.hpp"
#include "src/core/ascii.hpp"
#include "src/http/field_syntax.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/pct_string_view.hpp>

#include <algorithm>

namespace pawl::http {

namespace {

// RFC 9110, 7.2: a registered name, an IPv4 address or an IPv6 address in brackets, and a port.
bool is_host(std::string_view value) {
    std::string host{value};
    // RFC 6874: the sender's network interface, which Boost.URL does not accept.
    const auto zone = host.find("%25");
    const auto bracket = host.find(']');
    if (host.starts_with('[') && zone < bracket && bracket != host.npos) {
        if (!is_token(value.substr(zone + 3, bracket - zone - 3))) return false;
        host.erase(zone, bracket - zone);
    }
    const auto authority = boost::urls::parse_authority(host);
    return authority && !authority->has_userinfo();
}

struct Seen {
    int hosts{0};
    int lengths{0};
    int codings{0};
    bool chunked{false};
};

std::optional<HeadProblem> check_request_line(std::string_view line, bool& http11) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == line.npos || first == last)
        return HeadProblem{400, "The request line does not have three parts."};
    const auto method = line.substr(0, first);
    const auto target = line.substr(first + 1, last - first - 1);
    const auto version = line.substr(last + 1);
    if (!is_token(method)) return HeadProblem{400, "The method is not a valid token."};
    if (!origin_form(target)) return HeadProblem{400, "The target must be a path."};
    for (const char c : target)
        if (c <= ' ' || c > '~' || c == '#')
            return HeadProblem{400, "The target has a character that is not allowed."};
    if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || !core::is_digit(version[5]) ||
        version[6] != '.' || !core::is_digit(version[7]))
        return HeadProblem{400, "The version is malformed."};
    if (version[5] != '1') return HeadProblem{505, "HTTP/1.1 is served."};
    // RFC 9112, 3.2.4. A route table would read it as an unknown path.
    if (target == "*" && method != "OPTIONS")
        return HeadProblem{400, "The target * is valid for OPTIONS only."};
    http11 = version[7] != '0';  // RFC 9110, 2.5: 1.2 is served as 1.1.
    return std::nullopt;
}

std::optional<HeadProblem> check_field(std::string_view line, Seen& seen) {
    if (line.front() == ' ' || line.front() == '\t')
        return HeadProblem{400, "A header is folded over two lines."};
    const auto colon = line.find(':');
    if (colon == line.npos) return HeadProblem{400, "A header has no colon."};
    const auto name = line.substr(0, colon);
    const auto value = core::trimmed(line.substr(colon + 1));
    if (!is_token(name)) return HeadProblem{400, "The name of a header is not a valid token."};
    if (has_control(value))
        return HeadProblem{400, "A header has a control character in its value."};
    if (core::same_without_case(name, "host")) {
        ++seen.hosts;
        if (!is_host(value)) return HeadProblem{400, "The Host is not a valid host."};
    }
    if (core::same_without_case(name, "content-length")) {
        ++seen.lengths;
        if (!is_content_length(value))
            return HeadProblem{400, "The Content-Length is not a number."};
    }
    if (core::same_without_case(name, "transfer-encoding")) {
        ++seen.codings;
        if (!core::same_without_case(value, "chunked"))
            return HeadProblem{501, "Only the transfer coding chunked is served."};
        seen.chunked = true;
    }
    return std::nullopt;
}

std::optional<HeadProblem> check_all(const Seen& seen, bool http11) {
    if (http11 && seen.hosts != 1) return HeadProblem{400, "The request needs one Host header."};
    if (seen.hosts > 1) return HeadProblem{400, "The request has more than one Host header."};
    if (seen.lengths > 1) return HeadProblem{400, "The request has more than one Content-Length."};
    if (seen.codings > 1)
        return HeadProblem{400, "The request has more than one Transfer-Encoding."};
    if (seen.lengths > 0 && seen.codings > 0)
        return HeadProblem{400, "The request has both Content-Length and Transfer-Encoding."};
    if (seen.chunked && !http11) return HeadProblem{400, "HTTP/1.0 has no transfer codings."};
    return std::nullopt;
}

// Characters that another reader could take for the end of a line or of the text.
std::optional<HeadProblem> check_characters(std::string_view head) {
    for (std::size_t i = 0; i < head.size(); ++i) {
        if (head[i] == '\0') return HeadProblem{400, "The head has a NUL character."};
        if (head[i] == '\n' && (i == 0 || head[i - 1] != '\r'))
            return HeadProblem{400, "A line ends with a bare LF."};
        if (head[i] == '\r' && (i + 1 == head.size() || head[i + 1] != '\n'))
            return HeadProblem{400, "The head has a bare CR."};
    }
    return std::nullopt;
}

// The fields up to the empty line, or up to the end. `too_many`: there are more than `most`.
std::optional<HeadProblem> check_fields(
    std::string_view fields, int most, std::string_view too_many, Seen& seen
) {
    int count = 0;
    while (true) {
        const auto end = fields.find("\r\n");
        if (end == fields.npos || end == 0) return std::nullopt;
        if (++count > most) return HeadProblem{431, too_many};
        if (auto problem = check_field(fields.substr(0, end), seen)) return problem;
        fields.remove_prefix(end + 2);
    }
}

}  // namespace

std::optional<HeadProblem> check_head(std::string_view head, const HttpLimits& limits) {
    if (head.substr(0, 2) == "\r\n" || head.empty())
        return HeadProblem{400, "The request is empty."};
    if (auto problem = check_characters(head)) return problem;
    const auto line_end = std::min(head.find("\r\n"), head.size());
    if (line_end > limits.line_max)
        return HeadProblem{414, "The request line is longer than is allowed."};
    bool http11 = false;
    if (auto problem = check_request_line(head.substr(0, line_end), http11)) return problem;
    Seen seen;
    if (auto problem = check_fields(
            head.substr(std::min(line_end + 2, head.size())),
            limits.headers_count_max,
            "There are more headers than are allowed.",
            seen
        ))
        return problem;
    return check_all(seen, http11);
}

std::optional<HeadProblem> check_extensions(std::string_view extensions) {
    if (has_control(extensions))
        return HeadProblem{400, "A chunk extension has a control character."};
    return std::nullopt;
}

std::optional<HeadProblem> check_trailers(std::string_view trailers, const HttpLimits& limits) {
    if (auto problem = check_characters(trailers)) return problem;
    Seen seen;
    if (auto problem = check_fields(
            trailers, limits.headers_count_max, "There are more trailers than are allowed.", seen
        ))
        return problem;
    if (seen.lengths + seen.codings > 0)
        return HeadProblem{400, "A trailer gives the length of the body."};
    return std::nullopt;
}

std::optional<std::string> origin_form(std::string_view target) {
    if (target == "*" || target.starts_with('/')) return std::string{target};
    const auto colon = target.find("://");
    const auto scheme = target.substr(0, std::min(colon, target.size()));
    if (colon == target.npos ||
        (!core::same_without_case(scheme, "http") && !core::same_without_case(scheme, "https")))
        return std::nullopt;
    const auto rest = target.substr(colon + 3);
    const auto end = std::min(rest.find_first_of("/?#"), rest.size());
    const auto host = rest.substr(0, end);
    if (host.empty() || host.starts_with(':') || !is_host(host)) return std::nullopt;
    const auto path = rest.substr(end);
    return (path.starts_with('/') ? "" : "/") + std::string{path};
}

std::optional<std::string> decode_path(std::string_view path) {
    const auto checked = boost::urls::make_pct_string_view(path);
    if (!checked) return std::nullopt;
    auto text = checked->decode();
    if (!base::is_utf8(text) || text.find('\0') != text.npos) return std::nullopt;
    return text;
}

}  // namespace pawl::http
