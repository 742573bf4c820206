// Fuzzes the head of a request: what check_head() lets through, Beast's parser must read the same
// way, for a difference between two readers is what smuggling lives on. Built by the preset `fuzz`
// (libFuzzer, clang).

#include "src/core/assert.hpp"
#include "src/http/head_check.hpp"
#include "src/http/key_header.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

namespace http = pawl::http;

// In a checked head every line is one header, and the first ends at the first CRLF.
std::size_t headers_in(std::string_view head) {
    std::size_t lines = 0;
    for (auto at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) ++lines;
    return lines - 2;
}

void fuzz_head(std::string_view bytes) {
    const auto end = bytes.find("\r\n\r\n");
    if (end == bytes.npos) return;
    const auto head = bytes.substr(0, end + 4);
    if (http::check_head(head, {.line_max = 8UL * 1024, .headers_count_max = 100})) return;

    boost::beast::http::request_parser<boost::beast::http::string_body> parser;
    parser.header_limit(64 * 1024);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(head.data(), head.size()), error);
    if (error && error != boost::beast::http::error::need_more)
        return;  // Beast may be stricter, never laxer.
    PAWL_ASSERT(parser.is_header_done());
    const auto& message = parser.get();
    PAWL_ASSERT(
        static_cast<std::size_t>(std::distance(message.begin(), message.end())) == headers_in(head)
    );
    PAWL_ASSERT(message.count("Content-Length") + message.count("Transfer-Encoding") <= 1);
    PAWL_ASSERT(parser.chunked() == (message.count("Transfer-Encoding") == 1));
    const std::string target{message.target()};
    PAWL_ASSERT(head.substr(head.find(' ') + 1, target.size()) == target);
}

void fuzz_texts(std::string_view bytes) {
    if (const auto path = http::decode_path(bytes))
        PAWL_ASSERT(path->find('\0') == path->npos || bytes.find('\0') != bytes.npos);
    const auto key = http::key_of(bytes);
    if (const auto* text = std::get_if<std::string>(&key)) {
        PAWL_ASSERT(!text->empty() && text->size() <= 255);
        PAWL_ASSERT(std::all_of(text->begin(), text->end(), [](char c) {
            return c > ' ' && c <= '~';
        }));
        // A key and its quoted form are one key.
        PAWL_ASSERT(std::get<std::string>(http::key_of('"' + *text + '"')) == *text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* plain = data;
    const std::string_view bytes{static_cast<const char*>(plain), size};
    fuzz_head(bytes);
    fuzz_texts(bytes);
    return 0;
}
