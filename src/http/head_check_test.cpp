#include "src/http/head_check.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

using namespace std::string_literals;

const HttpLimits limits{.line_max = 40, .headers_count_max = 3};

int status_of(const std::string& head) {
    const auto problem = check_head(head, limits);
    return problem ? problem->status : 0;
}

TEST(CheckHead, accepts_valid_heads) {
    const std::vector<std::string> heads{
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a?b=c&d=%20 HTTP/1.1\r\nhost:a\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://b/c?d HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [2001:db8::1%25eth0]:8080\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: xn--a_b~c.example.com.:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: EXAMPLE:80 \t\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-1: a\r\n",  // The caller reads the line after it.
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTRANSFER-ENCODING: \tChunked \r\n\r\n",
        "M-SEARCH / HTTP/1.1\r\nHost: a\r\nX-Tab: a\tb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-Latin: \xE4\r\n\r\n",  // obs-text is allowed in values (RFC
                                                               // 9110, 5.5).
        "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\n\r\n",
        "GET /" + std::string(40 - 14, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (const auto& head : heads) EXPECT_EQ(status_of(head), 0) << head;
}

TEST(CheckHead, names_the_problem_of_an_invalid_head) {
    struct Case {
        std::string head;
        int status;
        std::string why;
    };
    const std::vector<Case> cases{
        {"GET /" + std::string(41 - 14, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n",
         414,
         "The request line is longer than is allowed."},
        {"GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n",
         431,
         "There are more headers than are allowed."},
        {"GET / HTTP/1.1\r\n\r\n", 400, "The request needs one Host header."},
        {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
         400,
         "The request has more than one Host header."},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "The Host is not a valid host."},
        {"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "The Host is not a valid host."},
        {"GET / HTTP/1.1\r\nHost: me@a\r\n\r\n", 400, "The Host is not a valid host."},
        {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "The Host is not a valid host."},
        {"GET / HTTP/1.1\r\nHost: \xC3\xA4\r\n\r\n", 400, "The Host is not a valid host."},
        {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "HTTP/1.1 is served."},
        {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505, "HTTP/1.1 is served."},
        {"GET / HTTP/1.2\r\n\r\n", 400, "The request needs one Host header."},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\0\r\n\r\n"s, 400, "The head has a NUL character."},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n",
         400,
         "A header has a control character in its value."},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n",
         400,
         "A header has a control character in its value."},
        {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400, "The target must be a path."},
        {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "The target * is valid for OPTIONS only."},
        {"GET ftp://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "The target must be a path."},
        {"GET http://b/#c HTTP/1.1\r\nHost: a\r\n\r\n",
         400,
         "The target has a character that is not allowed."},
        {"GET /\xC3\xA4 HTTP/1.1\r\nHost: a\r\n\r\n",
         400,
         "The target has a character that is not allowed."},
        {"GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400, "The target must be a path."},
        {"GET /~\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
         400,
         "The target has a character that is not allowed."},
        {"GET / HTTP/1-1\r\nHost: a\r\n\r\n", 400, "The version is malformed."},
        {"GET{ / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "The method is not a valid token."},
        {"GET / HTTP/1.1\r\nHost: a\r\n\tb: c\r\n\r\n", 400, "A header is folded over two lines."},
        {"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "A line ends with a bare LF."},
        {"GET / HTTP/1.1\r\nHost: a\r", 400, "The head has a bare CR."},
        {"GET\r\nHost: a\r\n\r\n", 400, "The request line does not have three parts."},
        {"", 400, "The request is empty."},
        {"\r\n\r\n", 400, "The request is empty."},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.head);
        const auto problem = check_head(c.head, limits);
        ASSERT_TRUE(problem);
        EXPECT_EQ(problem->status, c.status);
        EXPECT_EQ(problem->why, c.why);
    }
}

// RFC 9112, 3.2.2: a server must accept it, although only proxies receive it.
TEST(OriginForm, leaves_out_the_host_of_an_absolute_target) {
    struct Case {
        std::string_view target;
        std::optional<std::string> form;
    };
    const std::vector<Case> cases{
        {"/", "/"},
        {"*", "*"},
        {"/a?b=http://c/d", "/a?b=http://c/d"},
        {"//a/b", "//a/b"},
        {"http://a/b?c", "/b?c"},
        {"HTTPS://a:80/b/", "/b/"},
        {"http://[::1]:80//b", "//b"},
        {"http://a", "/"},
        {"http://a?b/c", "/?b/c"},
        {"", std::nullopt},
        {"a", std::nullopt},
        {"**", std::nullopt},
        {"http:/a", std::nullopt},
        {"http://", std::nullopt},
        {"http:///a", std::nullopt},
        {"http://:80/a", std::nullopt},
        {"http://?a", std::nullopt},
        {"http://me@a/b", std::nullopt},
        {"http://a:b/c", std::nullopt},
        {"http://a\\b/c", std::nullopt},
        {"ws://a/b", std::nullopt},
        {" http://a/b", std::nullopt},
        {"://a/b", std::nullopt},
    };
    for (const auto& c : cases) EXPECT_EQ(origin_form(c.target), c.form) << c.target;
}

TEST(DecodePath, decodes_once_and_refuses_broken_escapes) {
    struct Case {
        std::string path;
        std::optional<std::string> decoded;
    };
    const std::vector<Case> cases{
        {"/rides/1", "/rides/1"},
        {"/a%20b", "/a b"},
        {"/%C3%B6", "/\xC3\xB6"},
        {"/%c3%b6", "/\xC3\xB6"},
        {"/%2525", "/%25"},
        {"/a+b", "/a+b"},
        {"/a%2Fb", "/a/b"},
        {"", ""},
        {"/%", std::nullopt},
        {"/%2", std::nullopt},
        {"/%zz", std::nullopt},
        {"/%4z", std::nullopt},
        {"/%4/", std::nullopt},
        {"/%4@", std::nullopt},
        {"/%4`", std::nullopt},
        {"/%00", std::nullopt},
        {"/%ff", std::nullopt},
        {"/%C0%AF", std::nullopt},  // An overlong slash.
    };
    for (const auto& c : cases) EXPECT_EQ(decode_path(c.path), c.decoded) << c.path;
}

}  // namespace
}  // namespace pawl::http
