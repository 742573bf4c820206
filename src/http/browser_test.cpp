#include <pawl/browser.hpp>
#include <pawl/http.hpp>
#include <pawl/json.hpp>
#include <pawl/key_progress.hpp>

#include "src/http/testing/answer.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {
namespace {

using http::testing::Answer;
using http::testing::RawSocket;

struct Note {
    std::int64_t number{};
    std::string text;
};

class MakeNote {
public:
    static constexpr std::string_view name = "make_note";
    struct Request {
        std::string text;
    };
    using Started = pawl::Started<Request>;
    explicit MakeNote(std::atomic<int>& notes) : notes_{notes} {}
    Finish make(Tx&, const Started& at) {
        if (at.request.text == "a bug") throw std::runtime_error{"a bug"};
        auto response = respond(201, Note{++notes_, at.request.text});
        response.headers.push_back({"Location", "/notes/1"});
        return answer(response);
    }
    using Flow = Steps<Atomic<&MakeNote::make>>;

private:
    std::atomic<int>& notes_;
};

// All accounts of the tenant get the same note under one key.
class ShareNote {
public:
    static constexpr std::string_view name = "share_note";
    static constexpr Settings settings{.scope = Scope::tenant};
    struct Request {
        std::string text;
    };
    using Started = pawl::Started<Request>;
    Finish make(Tx&, const Started& at) { return answer(201, Note{1, at.request.text}); }
    using Flow = Steps<Atomic<&ShareNote::make>>;
};

// The state that find_key_progress returns for a key.
class ShowKey {
public:
    static constexpr std::string_view name = "show_key";
    struct Request {
        std::string key;
        std::optional<bool> shared{};
    };
    struct Found {
        bool finished{};
        std::optional<int> status{};
        std::optional<std::string> location{};
        std::optional<std::string> point{};
    };
    Response answer(Snapshot& read, const Asked<Request>& at) {
        const auto scope = at.request.shared.value_or(false) ? Scope::tenant : Scope::account;
        const auto found = find_key_progress(read, at.principal, at.request.key, scope);
        if (!found) return respond(404, "{}");
        return respond(
            200,
            Found{
                found->state == KeyProgress::State::finished,
                found->status,
                found->location,
                found->recovery_point}
        );
    }
};

// The input of a rendered page.
struct Seen {
    std::string route;
    std::string key;
    std::string account;
    std::string form;
    int status{};
    std::string body;
};

// Authenticates Jane by a cookie or a bearer token; the valid token of her forms is "right".
class BrowserTest : public ::testing::Test {
protected:
    BrowserTest() {
        service_.add(MakeNote{notes_});
        service_.add(ShareNote{});
        HttpOptions options{
            .listen = "127.0.0.1:0",
            .authenticate = [](const RequestHead& head) -> std::optional<Principal> {
                if (head.header("Cookie") == "jane" ||
                    head.header("Authorization") == "Bearer jane")
                    return Principal{"", "jane"};
                return std::nullopt;
            }};
        options.browser.present = [this](const Shown& what) { return present(what); };
        options.browser.from_own_page = [](const RequestHead& head, std::string_view token) {
            return head.count("Authorization") > 0 || token == "right";
        };
        server_.emplace(service_, std::move(options));
        server_->post<MakeNote>("/notes");
        server_->post<ShareNote>("/shared");
        server_->get("/keys/{key}", ShowKey{});
        server_->public_page("GET", "/open", [](const PublicRequest&) {
            return Response{.body = "anybody", .content_type = "text/plain"};
        });
        server_->public_page("GET", "/open/{text}", [](const PublicRequest&) {
            Response response;
            response.headers.push_back({"X-Text", "a\r\nSet-Cookie: stolen=yes"});
            return response;
        });
        server_->public_page("POST", "/open", [](const PublicRequest& asked) {
            std::string text;
            for (const auto& field : asked.form) text += field.name + "=" + field.value + ";";
            Response response{.status = 303, .body = text, .content_type = "text/plain"};
            response.headers.push_back({"Set-Cookie", "a=b"});
            return response;
        });
        service_.start();
        server_->start();
    }
    ~BrowserTest() override {
        server_->stop(std::chrono::seconds{5});
        service_.stop(std::chrono::seconds{5});
    }

    std::optional<Response> present(const Shown& what) {
        if (what.head.path == "/keys/no-page") return std::nullopt;
        if (what.head.path == "/keys/bug") throw std::runtime_error{"a bug in present"};
        Seen seen{
            std::string{what.route},
            std::string{what.key},
            what.principal != nullptr ? what.principal->account : "nobody",
            "",
            what.status,
            std::string{what.body}};
        for (const auto& field : what.form) seen.form += field.name + "=" + field.value + ";";
        const std::lock_guard lock{mutex_};
        seen_.push_back(seen);
        Response page{.status = 299, .body = "<p>", .content_type = "text/html"};
        if (what.head.path == "/keys/split") page.headers.push_back({"X-Key", "a\r\nb"});
        page.headers.push_back({"X-Page", "yes"});
        return page;
    }

    Answer ask(
        const std::string& method,
        const std::string& target,
        const std::string& headers,
        const std::string& body = ""
    ) {
        auto socket = RawSocket::to(server_->port());
        socket.send(
            method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + headers +
            (body.empty() ? "" : "Content-Type: application/x-www-form-urlencoded\r\n") +
            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body
        );
        return {socket.read_message()};
    }
    Answer send_form(const std::string& body, const std::string& more = "") {
        return ask("POST", "/notes", "Cookie: jane\r\n" + more, body);
    }

    static constexpr auto html = "Accept: text/html,*/*\r\n";
    std::atomic<int> notes_{0};
    std::mutex mutex_;
    std::vector<Seen> seen_;
    std::unique_ptr<Database> database_{Database::open("sqlite::memory:")};
    Service service_{*database_};
    std::optional<HttpServer> server_;
};

TEST_F(BrowserTest, a_page_is_rendered_from_the_usual_answer_and_the_stored_answer_is_unchanged) {
    const auto page = send_form("text=hi&idempotency_key=k&form_token=right", html);
    const auto json = send_form("text=hi&idempotency_key=k&form_token=right");

    EXPECT_EQ(page.status(), 299);
    EXPECT_EQ(page.header("X-Page"), "yes");
    EXPECT_EQ(page.header("Content-Type"), "text/html");
    EXPECT_EQ(page.header("Cache-Control"), "no-store");
    EXPECT_EQ(page.header("Vary"), "Accept, Authorization, Sec-Fetch-Mode");
    EXPECT_NE(page.header("Idempotency-Expires"), "");
    EXPECT_EQ(page.header("Location"), "");
    ASSERT_EQ(seen_.size(), 1U);
    EXPECT_EQ(seen_[0].route, "/notes");
    EXPECT_EQ(seen_[0].key, "k");
    EXPECT_EQ(seen_[0].account, "jane");
    EXPECT_EQ(seen_[0].form, "text=hi;");
    EXPECT_EQ(seen_[0].status, 201);
    EXPECT_EQ(json.status(), 201);
    EXPECT_EQ(json.body(), seen_[0].body);
    EXPECT_EQ(json.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(notes_, 1);
}

TEST_F(BrowserTest, every_refusal_can_be_rendered_even_one_before_the_body) {
    struct Case {
        std::string name;
        std::string method;
        std::string target;
        std::string headers;
        int status;
        std::string account;
    };
    const std::vector<Case> cases{
        {"nobody", "GET", "/keys/k", "", 401, "nobody"},
        {"no path", "GET", "/none", "Cookie: jane\r\n", 404, "nobody"},
        {"no method", "GET", "/notes", "Cookie: jane\r\n", 405, "nobody"},
        {"a query's own", "GET", "/keys/unused", "Cookie: jane\r\n", 404, "jane"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        seen_.clear();
        const auto page = ask(c.method, c.target, c.headers + html);
        EXPECT_EQ(page.status(), 299);
        ASSERT_EQ(seen_.size(), 1U);
        EXPECT_EQ(seen_[0].status, c.status);
        EXPECT_EQ(seen_[0].account, c.account);
        EXPECT_EQ(ask(c.method, c.target, c.headers).status(), c.status);
        EXPECT_EQ(seen_.size(), 1U) << "without text/html no page is rendered";
    }
    EXPECT_EQ(ask("GET", "/notes", std::string{"Cookie: jane\r\n"} + html).header("Allow"), "POST");
}

TEST_F(BrowserTest, without_a_page_or_when_it_throws_the_answer_itself_is_sent) {
    for (const auto* path : {"/keys/no-page", "/keys/bug", "/keys/split"}) {
        const auto answer = ask("GET", path, std::string{"Cookie: jane\r\n"} + html);
        EXPECT_EQ(answer.status(), 404) << path;
        EXPECT_EQ(answer.body(), "{}");
    }
}

TEST_F(BrowserTest, an_operation_with_cookie_credentials_needs_its_forms_token) {
    const std::vector<std::string> wrong{
        "text=hi&idempotency_key=k",
        "text=hi&idempotency_key=k&form_token=wrong",
        "text=hi&idempotency_key=k&form_token=",
        "text=hi&idempotency_key=k&form_token=right&form_token=right"};
    for (const auto& body : wrong) {
        SCOPED_TRACE(body);
        const auto refused = send_form(body);
        EXPECT_EQ(refused.status(), 403);
        EXPECT_EQ(refused.type(), "form-refused");
    }
    // Before, its page had no key, and could not link to the earlier request.
    EXPECT_EQ(send_form(wrong[1], html).status(), 299);
    EXPECT_EQ(seen_.back().key, "k");
    // No form at all, or a key in the header: another site can send these without the user.
    EXPECT_EQ(
        ask("POST", "/notes", "Cookie: jane\r\nIdempotency-Key: k\r\n").type(), "form-refused"
    );
    EXPECT_EQ(notes_, 0);

    EXPECT_EQ(ask("GET", "/keys/k", "Cookie: jane\r\n").status(), 404);  // No key was used up.
    EXPECT_EQ(send_form("text=hi&idempotency_key=k&form_token=right").status(), 201);
}

TEST_F(BrowserTest, the_token_is_not_part_of_the_request) {
    ASSERT_EQ(send_form("text=a%20b&idempotency_key=k&form_token=right").status(), 201);

    const auto by_bearer =
        ask("POST",
            "/notes",
            "Authorization: Bearer jane\r\n",
            "form_token=of+another+session&idempotency_key=k&text=a+b");
    EXPECT_EQ(by_bearer.status(), 201);
    EXPECT_EQ(by_bearer.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(send_form("text=c&idempotency_key=k&form_token=right").type(), "key-reused");
    EXPECT_EQ(notes_, 1);
}

TEST_F(BrowserTest, an_open_page_needs_no_credentials_and_gets_its_form) {
    EXPECT_EQ(ask("GET", "/open", "").body(), "anybody");
    const auto answer = ask("POST", "/open", "", "a=1&b=%3C");

    EXPECT_EQ(answer.status(), 303);
    EXPECT_EQ(answer.body(), "a=1;b=<;");
    EXPECT_EQ(answer.header("Set-Cookie"), "a=b");
    EXPECT_EQ(ask("POST", "/open", "", "a=%zz").type(), "request-invalid");
    EXPECT_EQ(ask("PUT", "/open", "").status(), 401) << "only the open method needs no credentials";
}

// Before, a request that named text/html anywhere was answered by a redirect after it had charged.
TEST_F(BrowserTest, a_bearer_token_or_a_json_body_always_gets_json) {
    const std::vector<std::string> programs{
        "Authorization: Bearer jane\r\n",
        "authorization: bEARER  jane\r\n",
        "Authorization: Bearer wrong\r\n",
        "Authorization: Bearer\r\n",
        "Cookie: jane\r\nAuthorization: Bearer jane\r\nAuthorization: Basic a\r\n",
        "Cookie: jane\r\nContent-Type: application/json\r\n",
        "Content-Type: Application/JSON; charset=utf-8\r\n",
        "Content-Type: application/merge-patch+json\r\n"};
    const std::vector<std::pair<std::string, std::string>> asked{
        {"GET", "/keys/k"},
        {"POST", "/notes"},
        {"DELETE", "/notes"},
        {"GET", "/none"},
        {"GET", "/open"},
        {"POST", "/open"}};
    for (const auto& headers : programs)
        for (const auto& [method, target] : asked) {
            SCOPED_TRACE(headers + method + " " + target);
            const auto answer = ask(method, target, headers + html);
            EXPECT_NE(answer.status(), 299);
            EXPECT_NE(answer.header("Content-Type").find("json"), std::string::npos);
        }
    EXPECT_TRUE(seen_.empty());
}

TEST_F(BrowserTest, a_page_whose_headers_would_split_the_answer_is_not_sent) {
    const auto answer = ask("GET", "/open/x", "");

    EXPECT_EQ(answer.status(), 500);
    EXPECT_EQ(answer.header("Set-Cookie"), "");
}

TEST_F(BrowserTest, only_its_owner_sees_the_progress_of_a_key) {
    ASSERT_EQ(send_form("text=hi&idempotency_key=k&form_token=right").status(), 201);
    ASSERT_EQ(send_form("text=a+bug&idempotency_key=open&form_token=right").status(), 500);

    EXPECT_EQ(
        ask("GET", "/keys/k", "Cookie: jane\r\n").body(),
        R"({"finished":true,"status":201,"location":"/notes/1","point":""})"
    );
    EXPECT_EQ(
        ask("GET", "/keys/open", "Cookie: jane\r\n").body(),
        R"({"finished":false,"point":"started"})"
    );
    EXPECT_EQ(ask("GET", "/keys/none", "Cookie: jane\r\n").status(), 404);
    EXPECT_EQ(ask("GET", "/keys/a%22", "Cookie: jane\r\n").status(), 404);
}

// Before, every account of the tenant got the stored answer, even if before_key refused it.
TEST_F(BrowserTest, a_tenant_keys_answer_is_given_only_for_requests_with_tenant_scope) {
    ASSERT_EQ(
        ask("POST", "/shared", "Cookie: jane\r\n", "text=hi&idempotency_key=s&form_token=right")
            .status(),
        201
    );

    EXPECT_EQ(ask("GET", "/keys/s", "Cookie: jane\r\n").status(), 404);
    EXPECT_EQ(ask("GET", "/keys/s?shared=true", "Cookie: jane\r\n").status(), 200);
    ASSERT_EQ(send_form("text=hi&idempotency_key=k&form_token=right").status(), 201);
    EXPECT_EQ(ask("GET", "/keys/k", "Cookie: jane\r\n").status(), 200);
    EXPECT_EQ(ask("GET", "/keys/k?shared=true", "Cookie: jane\r\n").status(), 404);
}

TEST(SecretFor, is_the_same_on_all_servers_of_a_database_and_differs_by_purpose) {
    const auto database = Database::open("sqlite::memory:");
    const Service one{*database};
    const Service other{*database};
    const auto elsewhere = Database::open("sqlite::memory:");
    const Service stranger{*elsewhere};

    EXPECT_EQ(one.secret_for("sessions").size(), 64U);
    EXPECT_EQ(one.secret_for("sessions"), other.secret_for("sessions"));
    EXPECT_NE(one.secret_for("sessions"), one.secret_for("forms"));
    EXPECT_NE(one.secret_for("sessions"), stranger.secret_for("sessions"));
}

}  // namespace
}  // namespace pawl
