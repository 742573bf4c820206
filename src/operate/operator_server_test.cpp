#include <pawl/operator_server.hpp>

#include "src/http/testing/answer.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace pawl {
namespace {

using http::testing::Answer;
using http::testing::RawSocket;

struct GreetRequest {
    std::string name;
};
class Greet {
public:
    static constexpr std::string_view name = "greet";
    static constexpr Settings settings{.key = KeyRule::optional};
    using Started = pawl::Started<GreetRequest>;
    Finish greet(Tx&, const Started&) { return answer(200, std::string{"{}"}); }
    using Flow = Steps<Atomic<&Greet::greet>>;
};

class OperatorServerTest : public ::testing::Test {
protected:
    OperatorServerTest() {
        service.add(Greet{});
        server.post<Greet>("/greetings");
    }
    ~OperatorServerTest() override { server.stop(std::chrono::seconds{1}); }

    void start() {
        operators.start();
        service.start();
        server.start();
        operators.set_started();
    }
    static Answer send(std::uint16_t port, const std::string& text) {
        auto socket = RawSocket::to(port);
        socket.send(text);
        return {socket.read_message()};
    }
    Answer get(const std::string& path, const std::string& headers = "") const {
        return send(
            operators.port(), "GET " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n"
        );
    }
    Answer greet(const std::string& body) const {
        return send(
            server.port(),
            "POST /greetings HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            "Content-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body
        );
    }

    std::unique_ptr<Database> database{Database::open("sqlite::memory:")};
    Service service{*database};
    HttpServer server{service, {.listen = "127.0.0.1:0", .anonymous = true, .threads = 1}};
    OperatorServer operators{service, {.listen = "127.0.0.1:0"}};
};

TEST_F(OperatorServerTest, answers_before_the_start_but_is_not_started_and_not_ready) {
    operators.start();

    EXPECT_EQ(get("/livez").status(), 200);
    EXPECT_EQ(get("/startupz").status(), 503);
    const auto ready = get("/readyz");
    EXPECT_EQ(ready.status(), 503);
    EXPECT_NE(ready.body().find("the service has not started yet"), std::string::npos);
}

TEST_F(OperatorServerTest, is_ready_after_the_start_and_not_once_it_is_stopping) {
    start();
    EXPECT_EQ(get("/startupz").status(), 200);
    EXPECT_EQ(get("/readyz").status(), 200) << get("/readyz").text;

    operators.set_stopping();
    EXPECT_EQ(get("/readyz").status(), 503);
    EXPECT_EQ(get("/livez").status(), 200);
    EXPECT_EQ(greet(R"({"name":"a"})").status(), 200) << "it serves on";
}

TEST_F(OperatorServerTest, counts_requests_by_operation_and_outcome_and_by_route_and_status) {
    start();
    EXPECT_EQ(greet(R"({"name":"a"})").status(), 200);
    EXPECT_EQ(greet(R"({"nome":"a"})").status(), 400);

    const auto text = get("/metrics").body();
    for (const auto* line :
         {"pawl_requests_total{operation=\"greet\",outcome=\"completed\"} 1\n",
          "pawl_phase_duration_seconds_count{operation=\"greet\",point=\"started\"} 1\n",
          "http_server_request_duration_seconds_count{http_request_method=\"POST\","
          "http_response_status_code=\"200\",http_route=\"/greetings\"} 1\n",
          "http_response_status_code=\"400\",http_route=\"/greetings\"} 1\n",
          "pawl_attempt_events_total{event=\"reached_end\"} 1\n",
          "pawl_ready 1\n",
          "pawl_store_up 1\n"})
        EXPECT_NE(text.find(line), text.npos) << line << "in\n" << text;
}

TEST_F(OperatorServerTest, paths_and_methods_that_are_unknown_are_refused) {
    start();

    EXPECT_EQ(get("/keys").status(), 404);
    const auto post = send(operators.port(), "POST /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(post.status(), 405);
    EXPECT_EQ(post.header("Allow"), "GET, HEAD");
    EXPECT_NE(get("/version").body().find("\"version\""), std::string::npos);
}

TEST_F(OperatorServerTest, is_made_before_the_service_starts) {
    start();

    EXPECT_THROW((OperatorServer{service, {.listen = "127.0.0.1:0"}}), std::logic_error);
}

// The first column of docs/metrics.md's table.
std::set<std::string> documented() {
    std::ifstream file{PAWL_SOURCE_DIR "/docs/metrics.md"};
    std::set<std::string> names;
    const std::regex row{R"(^\| `([a-z_]+)`.*)"};
    std::smatch found;
    for (std::string line; std::getline(file, line);)
        if (std::regex_match(line, found, row)) names.insert(found[1]);
    return names;
}

// The names that the sources give to metrics.
std::set<std::string> in_sources() {
    std::set<std::string> names;
    const std::regex name{R"re("((?:pawl|process|http_server)_[a-z_]+)")re"};
    for (const auto& entry : std::filesystem::directory_iterator{PAWL_SOURCE_DIR "/src/operate"}) {
        const auto path = entry.path().string();
        if (!path.ends_with(".cpp") || path.ends_with("_test.cpp")) continue;
        std::ifstream file{path};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        for (std::sregex_iterator at{text.begin(), text.end(), name}, end; at != end; ++at)
            names.insert((*at)[1]);
    }
    return names;
}

TEST_F(OperatorServerTest, docs_metrics_md_lists_exactly_the_metrics) {
    EXPECT_EQ(documented(), in_sources());
}

// One is of rows that a thread reads after the start.
TEST_F(OperatorServerTest, shows_what_the_database_holds) {
    start();
    std::string text;
    for (int i = 0; i < 500 && text.find("pawl_servers 1\n") == text.npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        text = get("/metrics", "Accept: application/openmetrics-text\r\n").body();
    }

    EXPECT_NE(text.find("pawl_servers 1\n"), text.npos) << text;
    EXPECT_NE(text.find("pawl_keys_open 0\n"), text.npos) << text;
    EXPECT_TRUE(text.ends_with("# EOF\n")) << text;
}

}  // namespace
}  // namespace pawl
