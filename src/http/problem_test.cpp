#include "src/http/problem.hpp"

#include "src/http/problem_page.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pawl::http {
namespace {

using engine::Reason;
using engine::Rejection;
using engine::StoredResponse;

std::string header_of(const Reply& reply, std::string_view name) {
    std::string all;
    for (const auto& header : reply.headers)
        if (header.name == name) all += (all.empty() ? "" : " | ") + header.value;
    return all;
}

std::string page() {
    std::ifstream file{PAWL_SOURCE_DIR "/docs/http.md"};
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The cells of the row of docs/http.md whose first cell is `type`.
std::vector<std::string> row_of(const std::string& text, std::string_view type) {
    const auto begin = text.find("\n| `" + std::string{type} + "` |");
    if (begin == text.npos) return {};
    std::stringstream row{text.substr(begin + 2, text.find('\n', begin + 1) - begin - 2)};
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    return cells;
}

TEST(Problems, each_has_its_row_in_the_documentation) {
    const auto text = page();
    ASSERT_FALSE(text.empty());
    for (const auto& kind : problem_kinds()) {
        SCOPED_TRACE(kind.type);
        const auto cells = row_of(text, kind.type);
        ASSERT_EQ(cells.size(), 4U);
        EXPECT_NE(cells[1].find(std::to_string(kind.status)), std::string::npos);
        EXPECT_EQ(cells[2], kind.retry ? " yes " : " no ");
        EXPECT_GT(cells[3].size(), 10U);
    }
}

TEST(Problems, the_documentation_has_no_row_without_a_problem) {
    std::set<std::string> known;
    for (const auto& kind : problem_kinds()) known.insert(std::string{kind.type});
    const auto text = page();
    std::stringstream table{text.substr(text.find("| type | status | retry |"))};
    std::string line;
    std::getline(table, line);
    std::getline(table, line);
    std::size_t rows = 0;
    for (; std::getline(table, line) && line.starts_with("| `"); ++rows)
        EXPECT_EQ(known.count(line.substr(3, line.find('`', 3) - 3)), 1U) << line;

    EXPECT_EQ(rows, known.size());
}

// Before, they were 401: what a client reads of an error needed the client's credentials.
TEST(Problems, each_types_page_is_its_row_for_browsers_and_for_programs) {
    const auto text = page();
    for (const auto& kind : problem_kinds()) {
        SCOPED_TRACE(kind.type);
        RequestHead head;
        head.method = "GET";
        head.path = "/errors/" + std::string{kind.type};
        const auto json = problem_page(head);
        head.headers = {{"Accept", "text/html,*/*;q=0.8"}};
        const auto plain = problem_page(head);

        const auto cells = row_of(text, kind.type);
        ASSERT_EQ(cells.size(), 4U);
        ASSERT_TRUE(json && plain);
        EXPECT_EQ(header_of(*json, "Content-Type"), "application/json");
        const auto object = boost::json::parse(json->body).as_object();
        EXPECT_EQ(object.at("type"), boost::json::value(head.path));
        EXPECT_EQ(" " + std::string{object.at("description").as_string()} + " ", cells[3]);
        EXPECT_EQ(header_of(*plain, "Content-Type"), "text/plain; charset=utf-8");
        EXPECT_TRUE(plain->body.ends_with(cells[3].substr(1, cells[3].size() - 2) + '\n'));
    }
}

TEST(Problems, other_paths_are_no_pages_of_types) {
    RequestHead head;
    head.method = "GET";
    for (const auto* path :
         {"/errors", "/errors/", "/errors/none", "/errors/key-reused/", "/key-reused"}) {
        head.path = path;
        EXPECT_FALSE(problem_page(head)) << path;
    }
    head.path = "/errors/key-reused";
    head.method = "POST";
    EXPECT_FALSE(problem_page(head));
}

// problem_reply asserts that its problem is one of problem_kinds(); this test runs each way into
// it.
TEST(Problems, every_refusal_of_the_engine_and_the_listener_is_a_known_kind) {
    struct Case {
        Reason why;
        int status;
        std::string type;
        bool retry;
    };
    const std::vector<Case> cases{
        {Reason::in_progress, 409, "in-progress", true},
        {Reason::key_reused, 422, "key-reused", false},
        {Reason::key_expired, 410, "key-expired", false},
        {Reason::internal, 500, "internal", true},
        {Reason::provider_unavailable, 503, "provider-unavailable", true},
        {Reason::not_recorded, 503, "not-recorded", true},
        {Reason::store_unavailable, 503, "store-unavailable", true},
        {Reason::contention, 503, "contention", true},
        {Reason::phase_deadline, 503, "phase-deadline", true},
        {Reason::overloaded, 503, "overloaded", true},
        {Reason::stranded, 503, "stranded", true},
        {Reason::other_server, 503, "other-server", true},
        {Reason::on_hold, 503, "on-hold", true},
        {Reason::needs_attention, 502, "needs-attention", false},
        {Reason::stopping, 503, "stopping", true},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.type);
        const auto reply = reply_to(Rejection{.reason = c.why, .detail = "SELECT secret"}, 422);

        EXPECT_EQ(reply.status, c.status);
        EXPECT_EQ(engine::status_of(c.why), c.status);
        EXPECT_NE(reply.body.find("\"type\":\"/errors/" + c.type + "\""), std::string::npos)
            << reply.body;
        EXPECT_NE(
            reply.body.find(c.retry ? "\"retry\":true" : "\"retry\":false"), std::string::npos
        );
        EXPECT_EQ(header_of(reply, "Retry-After"), c.retry ? "1" : "");
        EXPECT_EQ(header_of(reply, "Content-Type"), "application/problem+json");
        EXPECT_EQ(header_of(reply, "Cache-Control"), "no-store");
        EXPECT_EQ(
            reply.body.find("secret"), std::string::npos
        );  // Texts for operators are not sent.
    }
    for (const int status : {400, 404, 405, 408, 412, 413, 414, 415, 431, 501, 503, 505}) {
        const auto reply = refusal(status, "why");
        EXPECT_EQ(reply.status, status);
        EXPECT_NE(reply.body.find("\"detail\":\"why\""), std::string::npos) << reply.body;
    }
}

TEST(Problems, key_reused_has_the_configured_status) {
    for (const int status : {422, 409, 400}) {
        const auto reply = reply_to(Rejection{.reason = Reason::key_reused}, status);
        EXPECT_EQ(reply.status, status);
        EXPECT_NE(reply.body.find("\"status\":" + std::to_string(status)), std::string::npos);
    }
}

TEST(Problems, an_expired_key_has_its_status_and_location) {
    const auto reply = reply_to(
        Rejection{
            .reason = Reason::key_expired, .outcome = 201, .location = std::string{"/rides/7"}},
        422
    );

    EXPECT_NE(
        reply.body.find("\"detail\":\"The request ended with status 201; see /rides/7\""),
        std::string::npos
    ) << reply.body;
}

TEST(Problems, an_expired_key_without_a_location_names_none) {
    const auto reply = reply_to(Rejection{.reason = Reason::key_expired, .outcome = 402}, 422);

    EXPECT_NE(
        reply.body.find("\"detail\":\"The request ended with status 402\""), std::string::npos
    ) << reply.body;
}

TEST(Problems, a_stranded_key_has_the_code_for_the_operator) {
    EXPECT_NE(
        reply_to(Rejection{.reason = Reason::stranded}, 422).body.find("\"code\":\"PAWL0007\""),
        std::string::npos
    );
}

TEST(Problems, a_quota_problem_says_when_to_retry_and_which_limit_it_was) {
    using core::OverQuota;
    const auto rate = quota_exceeded({OverQuota::Limit::rate, std::chrono::seconds{7}});
    const auto in_flight = quota_exceeded({OverQuota::Limit::in_flight, std::chrono::seconds{1}});

    EXPECT_EQ(rate.status, 429);
    EXPECT_EQ(header_of(rate, "Retry-After"), "7");
    EXPECT_NE(rate.body.find("\"retry\":true"), std::string::npos);
    EXPECT_NE(rate.body.find("Requests come too fast."), std::string::npos);
    EXPECT_EQ(header_of(in_flight, "Retry-After"), "1");
    EXPECT_NE(
        in_flight.body.find("Too many requests of this tenant are in flight."), std::string::npos
    );
    const auto account =
        quota_exceeded({OverQuota::Limit::account_in_flight, std::chrono::seconds{1}});
    EXPECT_NE(
        account.body.find("Too many requests of this account are in flight."), std::string::npos
    );
}

TEST(Problems, text_is_escaped) {
    const auto reply = refusal(400, "a \"quote\"\nand a line");

    EXPECT_NE(reply.body.find(R"("detail":"a \"quote\"\nand a line")"), std::string::npos)
        << reply.body;
}

TEST(SettledReply, has_the_stored_response_and_the_headers_of_the_contract) {
    StoredResponse settled{
        {.status = 201, .body = "{}", .headers = {{"Location", "/rides/7"}}}, true, TimePoint{}};

    const auto reply = reply_to(settled, 422);

    EXPECT_EQ(reply.status, 201);
    EXPECT_EQ(reply.body, "{}");
    EXPECT_EQ(header_of(reply, "Location"), "/rides/7");
    EXPECT_EQ(header_of(reply, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(reply, "Cache-Control"), "no-store");
    EXPECT_EQ(header_of(reply, "Idempotent-Replayed"), "true");
    EXPECT_EQ(header_of(reply, "Idempotency-Expires"), "Thu, 01 Jan 1970 00:00:00 GMT");
    settled.response.content_type = "";
    EXPECT_EQ(header_of(reply_to(settled, 422), "Content-Type"), "") << "none was stored";
    settled.replayed = false;
    EXPECT_EQ(header_of(reply_to(settled, 422), "Idempotent-Replayed"), "");
}

}  // namespace
}  // namespace pawl::http
