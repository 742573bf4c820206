// If a proxy and a server read a request differently, a second request can hide in the first. Every
// such request is refused, and the connection closed. RFC 9112, 11.2; RFC 9110, 5.5.

#include "src/http/testing/listening.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::http {
namespace {

using namespace std::string_literals;
using testing::Listening;

struct Shape {
    std::string name;
    std::string bytes;
    std::string status{"400"};
};

const std::string hidden = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string with(const std::string& headers, const std::string& body = "0\r\n\r\n") {
    return "POST /echo HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n\r\n" + body;
}

std::string many(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

const std::vector<Shape> shapes{
    {"length and chunks", with("Content-Length: 5\r\nTransfer-Encoding: chunked")},
    {"chunks and length", with("Transfer-Encoding: chunked\r\nContent-Length: 5")},
    {"two lengths", with("Content-Length: 5\r\nContent-Length: 0")},
    {"two equal lengths", with("Content-Length: 5\r\nContent-Length: 5")},
    {"a list of lengths", with("Content-Length: 5, 5")},
    {"a signed length", with("Content-Length: +5")},
    {"a negative length", with("Content-Length: -5")},
    {"a hexadecimal length", with("Content-Length: 0x5")},
    {"a length with a space", with("Content-Length: 5 0")},
    {"an empty length", with("Content-Length: ")},
    {"a length that overflows", with("Content-Length: 18446744073709551621")},
    {"two codings", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")},
    {"another coding", with("Transfer-Encoding: gzip, chunked"), "501"},
    {"identity", with("Transfer-Encoding: identity"), "501"},
    {"chunked in quotes", with("Transfer-Encoding: \"chunked\""), "501"},
    {"a vertical tab before chunked", with("Transfer-Encoding: \vchunked")},
    {"a comma after chunked", with("Transfer-Encoding: chunked,"), "501"},
    {"chunks in HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"a space before the colon", with("Transfer-Encoding : chunked")},
    {"a tab before the colon", with("Content-Length\t: 5")},
    {"a folded header", with("X: a\r\n b\r\nContent-Length: 5")},
    {"a folded length", with("Content-Length:\r\n 5")},
    {"a first header that is indented",
     "POST /echo HTTP/1.1\r\n Host: a\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"},
    {"a bare LF", with("X: a\nContent-Length: 5")},
    {"a bare LF after the line",
     "POST /echo HTTP/1.1\nHost: a\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"},
    {"a bare CR", with("X: a\rContent-Length: 5")},
    {"a CR at the end of a value", with("X: a\r\r\nContent-Length: 5")},
    {"a NUL", with("X: a\0b\r\nContent-Length: 5"s)},
    {"a name with a NUL", with("Content-Length\0: 5"s)},
    {"no name", with(": x\r\nContent-Length: 5")},
    {"no colon", with("Content-Length 5")},
    {"a name that is not a token", with("Content(Length): 5")},
    {"a name beyond ASCII", with("Content-L\xC3\xA4ngth: 5")},
    {"two hosts", with("Host: b\r\nContent-Length: 5")},
    {"no host", "GET /echo HTTP/1.1\r\n\r\n"},
    {"a host with a port that is none", "GET /echo HTTP/1.1\r\nHost: a:b\r\n\r\n"},
    {"a host with two ports", "GET /echo HTTP/1.1\r\nHost: a:1:2\r\n\r\n"},
    {"a host with a broken escape", "GET /echo HTTP/1.1\r\nHost: a%2\r\n\r\n"},
    {"half an address in brackets", "GET /echo HTTP/1.1\r\nHost: [::1\r\n\r\n"},
    {"a host with a user", "GET /echo HTTP/1.1\r\nHost: b@a\r\n\r\n"},
    {"a target with a user", "GET http://b@a/echo HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"a target with a space", "GET /echo /other HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"a target with a fragment", "GET /echo#x HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"a target with NUL in it", "GET /echo%00 HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"a target with a broken escape", "GET /echo%2 HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"CONNECT", "CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"HTTP/0.9", "GET /echo\r\n\r\n"},
    {"HTTP/2.1", "GET /echo HTTP/2.1\r\nHost: a\r\n\r\n", "505"},
    {"HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
    {"a version in lower case", "GET /echo http/1.1\r\nHost: a\r\n\r\n"},
    {"a version of a letter", "GET /echo HTTP/1.x\r\nHost: a\r\n\r\n"},
    {"a version with more digits", "GET /echo HTTP/1.10\r\nHost: a\r\n\r\n"},
    {"a method that is not a token", "GE(T /echo HTTP/1.1\r\nHost: a\r\n\r\n"},
    {"TLS on a plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"s},

    {"a chunk size with 0x", chunked + "0x5\r\nhello\r\n0\r\n\r\n"},
    {"a signed chunk size", chunked + "+5\r\nhello\r\n0\r\n\r\n"},
    {"a negative chunk size", chunked + "-5\r\nhello\r\n0\r\n\r\n"},
    {"an empty chunk size", chunked + "\r\nhello\r\n0\r\n\r\n"},
    {"a chunk size that is not a number", chunked + "g\r\nhello\r\n0\r\n\r\n"},
    {"a space before a chunk size", chunked + " 5\r\nhello\r\n0\r\n\r\n"},
    {"a chunk size that overflows", chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n"},
    {"a chunk longer than its size", chunked + "5\r\nhello!!\r\n0\r\n\r\n"},
    {"a chunk line with a bare LF", chunked + "5\nhello\r\n0\r\n\r\n"},
    {"a chunk that ends with a bare LF", chunked + "5\r\nhello\n0\r\n\r\n"},
    {"an end with bare LFs", chunked + "5\r\nhello\r\n0\n\n"},
    {"an extension with a bare LF", chunked + "5;x\nhello\r\n0\r\n\r\n"},
    {"an extension with a LF in quotes", chunked + "5;x=\"\n\"\r\nhello\r\n0\r\n\r\n"},
    {"extensions without end",
     chunked + "1;" + std::string(20'000, 'x') + "\r\na\r\n1;" + std::string(20'000, 'x') +
         "\r\na\r\n0\r\n\r\n",
     "413"},
    {"a trailer that is folded", chunked + "5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n"},
    {"a trailer with a bare LF", chunked + "5\r\nhello\r\n0\r\nX: y\nZ: z\r\n\r\n"},
    {"a length in a trailer", chunked + "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n"},
    {"trailers without end",
     chunked + "5\r\nhello\r\n0\r\n" + many("X: y\r\n", 101) + "\r\n",
     "431"},
    // At 64 KiB Beast's container of fields threw, on the thread that serves all connections.
    {"a trailer of 100,000 bytes",
     chunked + "5\r\nhello\r\n0\r\nX: " + std::string(100'000, 'y') + "\r\n\r\n",
     "431"},
};

TEST(Smuggling, every_smuggling_request_is_refused_and_later_bytes_are_not_read) {
    for (const auto& shape : shapes) {
        SCOPED_TRACE(shape.name);
        Listening server;

        const auto answer = server.ask(shape.bytes + hidden);

        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + shape.status) << answer;
        EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
        EXPECT_EQ(answer.find("\r\nDate: "), answer.rfind("\r\nDate: ")) << answer;  // One answer.
        EXPECT_EQ(server.requests(), 0);
    }
}

TEST(Smuggling, bytes_after_a_body_are_the_next_request) {
    Listening server;

    const auto answer = server.ask(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGARBAGE\r\n\r\n" + hidden
    );

    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200");
    EXPECT_NE(answer.find("HTTP/1.1 400", 1), std::string::npos) << answer;
    EXPECT_EQ(server.requests(), 1);
}

TEST(Smuggling, a_request_cannot_split_its_response) {
    Listening server;

    const auto answer = server.ask("GET /echo%0d%0aX:1 HTTP/1.1\r\nHost: a\r\n\r\n");

    EXPECT_EQ(answer.substr(0, answer.find("\r\n\r\n")).find("X:1"), std::string::npos);
}

}  // namespace
}  // namespace pawl::http
