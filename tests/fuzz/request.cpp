// A request as it comes from a socket. If check_head() accepts it, Beast's parser must read it the
// same way, and end the body where RFC 9112 ends it: request smuggling uses differences between
// readers. Parsed parts stay within their limits.

#include <pawl/detail/json.hpp>

#include "src/http/head_check.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace {

namespace http = pawl::http;
namespace beast_http = boost::beast::http;
using pawl::fuzz::cut_at;

constexpr std::size_t body_max = 300;

// In a checked head every line is one header, and the request line ends at the first CRLF.
std::size_t headers_in(std::string_view head) {
    std::size_t lines = 0;
    for (auto at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) ++lines;
    return lines - 2;
}

struct Body {
    std::string text;
    std::size_t size{};  // On the wire.
};

// RFC 9112, 7.1, in the simplest way: nullopt if malformed or incomplete.
std::optional<Body> chunked(std::string_view wire) {
    Body body;
    const auto all = wire.size();
    while (true) {
        const auto line = cut_at(wire, "\r\n").before;
        if (line.size() == wire.size()) return std::nullopt;
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
        if (error != std::errc{} || line.front() == '-') return std::nullopt;
        wire.remove_prefix(line.size() + 2);
        if (size == 0) break;
        if (size > wire.size() || !wire.substr(size).starts_with("\r\n")) return std::nullopt;
        body.text += wire.substr(0, size);
        wire.remove_prefix(size + 2);
    }
    while (!wire.starts_with("\r\n")) {  // Trailers.
        const auto line = cut_at(wire, "\r\n").before;
        if (line.size() == wire.size()) return std::nullopt;
        wire.remove_prefix(line.size() + 2);
    }
    body.size = all - wire.size() + 2;
    return body;
}

using Parser = beast_http::request_parser<beast_http::string_body>;

// The end of one request is the start of the next: it must be where the RFC puts it.
void check_body(Parser& parser, std::string_view wire) {
    std::string_view left = wire;
    boost::system::error_code error;
    while (!parser.is_done() && !error) {
        const auto read = parser.put(boost::asio::buffer(left.data(), left.size()), error);
        left.remove_prefix(read);
        if (read == 0) break;
    }
    PAWL_ASSERT(parser.get().body().size() <= body_max);
    if (error || !parser.is_done()) return;  // Beast may be stricter, but never more lenient.
    const auto length = parser.content_length().value_or(0);
    const auto expected =
        parser.chunked() ? chunked(wire) : Body{std::string{wire.substr(0, length)}, length};
    PAWL_ASSERT(expected.has_value());
    PAWL_ASSERT(parser.get().body() == expected->text);
    PAWL_ASSERT(wire.size() - left.size() == expected->size);
}

struct Place {
    double lat{};
    double lon{};
};
struct Ride {
    std::string from;
    std::optional<int> seats;
    std::vector<Place> stops;
};

// The fields of any query and any body are a request or a problem, and a problem can be encoded.
void check_fields(std::string_view query, std::string_view type, std::string_view body) {
    pawl::detail::RequestFields fields;
    auto problem = fields.add_query(query);
    if (!problem && type.find("json") != type.npos) problem = fields.add_json(body);
    if (!problem && type.find("form") != type.npos) problem = fields.add_form(body);
    if (!problem) {
        auto ride = pawl::detail::decode_request<Ride>(fields);
        if (auto* wrong = std::get_if<pawl::DecodeProblem>(&ride)) problem = std::move(*wrong);
    }
    if (!problem) return;
    PAWL_ASSERT(!problem->why.empty());
    (void)pawl::detail::encode(*problem);  // Throws if it is not UTF-8.
}

void check_request(std::string_view bytes) {
    const auto end = bytes.find("\r\n\r\n");
    if (end == bytes.npos) return;
    const auto head = bytes.substr(0, end + 4);
    if (http::check_head(head, {.line_max = 8UL * 1024, .headers_count_max = 100})) return;

    Parser parser;
    parser.header_limit(64 * 1024);
    parser.body_limit(body_max);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(head.data(), head.size()), error);
    if (error && error != beast_http::error::need_more) return;
    PAWL_ASSERT(parser.is_header_done());
    const auto& message = parser.get();
    PAWL_ASSERT(
        static_cast<std::size_t>(std::distance(message.begin(), message.end())) == headers_in(head)
    );
    PAWL_ASSERT(message.count("Content-Length") + message.count("Transfer-Encoding") <= 1);
    PAWL_ASSERT(parser.chunked() == (message.count("Transfer-Encoding") == 1));
    const std::string target{message.target()};
    PAWL_ASSERT(head.substr(head.find(' ') + 1, target.size()) == target);
    const auto form = http::origin_form(target);
    PAWL_ASSERT(form);
    PAWL_ASSERT(target.ends_with(*form) || target.ends_with(form->substr(1)));  // "http://host?a"
    const auto [path, query] = cut_at(*form, "?");
    if (!http::decode_path(path)) return;
    check_body(parser, bytes.substr(head.size()));
    check_fields(query, std::string{message["Content-Type"]}, message.body());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = pawl::fuzz::text_of(data, size);
    check_request(bytes);
    if (const auto path = http::decode_path(bytes))
        PAWL_ASSERT(path->find('\0') == path->npos || bytes.find('\0') != bytes.npos);
    return 0;
}
