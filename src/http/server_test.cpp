#include <pawl/http.hpp>
#include <pawl/json.hpp>

#include "src/engine/key_row.hpp"
#include "src/http/testing/answer.hpp"
#include "src/http/testing/raw_socket.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {
namespace {

using http::testing::Answer;
using http::testing::RawSocket;

// Counts what the operations below did, and can hold them up.
struct Seen {
    std::atomic<int> notes{0};
    std::atomic<int> calls{0};
    std::promise<void> called;        // The first call has begun...
    std::shared_future<void> go_on;   // ...and waits for this.
    std::atomic<bool> broken{false};  // Phases throw.
};

struct Note {
    std::int64_t number{};
    std::string text;
};

class MakeNote {
public:
    static constexpr std::string_view name = "make_note";
    struct Request {
        std::string text;
        std::optional<std::string> problem() const {
            if (text.empty()) return "text: Must not be empty.";
            if (text == "a bug") throw std::out_of_range{"a bug in problem()"};
            return std::nullopt;
        }
    };
    using Started = pawl::Started<Request>;
    explicit MakeNote(Seen& seen) : seen_{seen} {}
    Finish make(Tx&, const Started& at) {
        if (seen_.broken) throw std::runtime_error{"a secret of the database"};
        const Note note{++seen_.notes, at.request.text};
        auto response = respond(201, note);
        response.headers.push_back({"Location", "/notes/" + std::to_string(note.number)});
        return answer(response);
    }
    using Flow = Steps<Atomic<&MakeNote::make>>;

private:
    Seen& seen_;
};

class PutNote {
public:
    static constexpr std::string_view name = "put_note";
    static constexpr Settings settings{.key = KeyRule::none};
    struct Request {
        std::int64_t number{};
        std::string text;
    };
    using Started = pawl::Started<Request>;
    Finish put(Tx&, const Started& at) {
        return answer(200, Note{at.request.number, at.request.text});
    }
    using Flow = Steps<Atomic<&PutNote::put>>;
};

struct Traced {
    std::string trace;
};
class TraceNote {
public:
    static constexpr std::string_view name = "trace_note";
    struct Request {
        std::string text;
        FromHeader<"traceparent"> trace{};
    };
    using Started = pawl::Started<Request>;
    Finish show(Tx&, const Started& at) {
        return answer(200, Traced{at.request.trace.value.value_or("none")});
    }
    using Flow = Steps<Atomic<&TraceNote::show>>;
};

class PayNote {
public:
    static constexpr std::string_view name = "pay_note";
    static constexpr Settings settings{.provider_key_lifetime = std::chrono::hours{20}};
    struct Request {
        std::int64_t number{};
    };
    using Started = pawl::Started<Request>;
    struct Ready {
        static constexpr std::string_view name = "ready";
        std::int64_t number{};
    };
    struct Paid {
        std::string id;
    };
    explicit PayNote(Seen& seen) : seen_{seen} {}
    Next<Ready> prepare(Tx&, const Started& at) { return Ready{at.request.number}; }
    Outcome<Paid> pay(KeyedCall&, const Ready&) {
        if (++seen_.calls == 1) {
            seen_.called.set_value();
            if (seen_.go_on.wait_for(std::chrono::seconds{10}) != std::future_status::ready)
                return Retry{};
        }
        return Paid{"p1"};
    }
    Finish keep(Tx&, const Ready&, const Paid& paid) { return answer(200, paid); }
    using Flow = Steps<
        Atomic<&PayNote::prepare>,
        Foreign<Repeat::safe_with_key, &PayNote::pay, &PayNote::keep>>;

private:
    Seen& seen_;
};

class ShowNote {
public:
    static constexpr std::string_view name = "show_note";
    struct Request {
        std::int64_t number{};
        std::optional<std::string> style;
    };
    Response answer(Snapshot&, const Asked<Request>& at) {
        return respond(
            200, Note{at.request.number, at.principal.account + at.request.style.value_or("")}
        );
    }
};

struct Ask {
    std::string method{"POST"};
    std::string target{"/notes"};
    std::vector<Header> headers{};
    std::string body{};
    std::string token{"jane"};
};

// A service on SQLite in memory, with its HTTP server on a free port.
class HttpServerTest : public ::testing::Test {
protected:
    HttpServerTest()
        : log_{::testing::TempDir() + "server_test_" + std::to_string(::getpid()) + ".jsonl"} {
        std::filesystem::remove(log_);
        seen_.go_on = release_.get_future().share();
        service_.add(MakeNote{seen_});
        service_.add(PutNote{});
        service_.add(TraceNote{});
        service_.add(PayNote{seen_});
        server_.emplace(
            service_,
            HttpOptions{
                .listen = "127.0.0.1:0",
                .authenticate = [this](const RequestHead& head) -> std::optional<Principal> {
                    ++authenticated_;
                    const auto token = head.header("Authorization").value_or("");
                    if (token == "Bearer a bug") throw std::runtime_error{"a bug in authenticate"};
                    if (!token.starts_with("Bearer ")) return std::nullopt;
                    return Principal{"", std::string{token.substr(7)}};
                },
                .access_log = log_}
        );
        server_->post<MakeNote>("/notes");
        server_->put<PutNote>("/notes/{number}");
        server_->post<TraceNote>("/traces");
        server_->get("/notes/{number}", ShowNote{});
        server_->post<PayNote>("/notes/{number}/payment");
        service_.start();
        server_->start();
    }
    ~HttpServerTest() override {
        if (!released_) release_.set_value();
        if (server_) server_->stop(std::chrono::seconds{5});
        service_.stop(std::chrono::seconds{5});
        std::filesystem::remove(log_);
    }

    void release() {
        released_ = true;
        release_.set_value();
    }

    static std::string bytes_of(const Ask& ask) {
        std::string text = ask.method + " " + ask.target + " HTTP/1.1\r\nHost: a\r\n";
        if (!ask.token.empty()) text += "Authorization: Bearer " + ask.token + "\r\n";
        for (const auto& header : ask.headers) text += header.name + ": " + header.value + "\r\n";
        return text + "Content-Length: " + std::to_string(ask.body.size()) + "\r\n\r\n" + ask.body;
    }
    Answer ask(const Ask& what) {
        auto socket = RawSocket::to(server_->port());
        socket.send(bytes_of(what));
        if (what.method == "HEAD") return {socket.read_until("\r\n\r\n")};
        return {socket.read_message()};
    }
    Answer make_note(
        const std::string& key, const std::string& body, const std::string& token = "jane"
    ) {
        return ask(
            {.headers = {{"Idempotency-Key", key}, {"Content-Type", "application/json"}},
             .body = body,
             .token = token}
        );
    }

    std::string log_;
    Seen seen_;
    std::atomic<int> authenticated_{0};
    std::promise<void> release_;
    bool released_{false};
    std::unique_ptr<Database> database_{Database::open("sqlite::memory:")};
    Service service_{*database_};
    std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, a_repeat_gets_the_same_bytes_and_repeats_no_work) {
    const auto first = make_note("k1", R"({"text":"hello"})");
    const auto second = make_note("\"k1\"", R"({ "text" : "hello" })");

    EXPECT_EQ(first.status(), 201);
    EXPECT_EQ(first.header("Location"), "/notes/1");
    EXPECT_EQ(first.header("Idempotent-Replayed"), "");
    EXPECT_NE(first.header("Idempotency-Expires"), "");
    EXPECT_EQ(second.status(), 201);
    EXPECT_EQ(second.body(), first.body());
    EXPECT_EQ(second.header("Location"), "/notes/1");
    EXPECT_EQ(second.header("Content-Type"), first.header("Content-Type"));
    EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(seen_.notes, 1);
}

// Issue 19: each try of a client has a traceparent of its own.
TEST_F(HttpServerTest, a_repeat_with_another_header_is_a_repeat_and_the_steps_saw_the_first) {
    const auto traced = [&](const std::string& key, std::vector<Header> headers) {
        headers.push_back({"Idempotency-Key", key});
        headers.push_back({"Content-Type", "application/json"});
        return ask({.target = "/traces", .headers = headers, .body = R"({"text":"hello"})"});
    };

    const auto first = traced("k", {{"Traceparent", "00-a"}});
    const auto again = traced("k", {{"Traceparent", "00-b"}});

    EXPECT_EQ(first.body(), R"({"trace":"00-a"})");
    EXPECT_EQ(again.body(), first.body());
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(traced("other", {}).body(), R"({"trace":"none"})");
}

TEST_F(HttpServerTest, a_key_belongs_to_its_account_and_its_request) {
    ASSERT_EQ(make_note("k1", R"({"text":"hello"})").status(), 201);

    EXPECT_EQ(make_note("k1", R"({"text":"other"})").type(), "key-reused");
    EXPECT_EQ(make_note("k1", R"({"text":"other"})").status(), 422);
    EXPECT_EQ(make_note("k1", R"({"text":"other"})", "joe").status(), 201);
}

TEST_F(HttpServerTest, refusals_come_in_the_order_of_the_contract) {
    struct Case {
        std::string name;
        Ask ask;
        int status;
        std::string type;
    };
    const Header json{"Content-Type", "application/json"};
    const Header key{"Idempotency-Key", "k"};
    const std::string note = R"({"text":"hello"})";
    const std::vector<Case> cases{
        {"no credentials, wrong path", {.target = "/nowhere", .token = ""}, 401, "unauthorized"},
        {"no credentials, bad key",
         {.headers = {{"Idempotency-Key", ""}}, .token = ""},
         401,
         "unauthorized"},
        {"wrong path", {.target = "/nowhere"}, 404, "not-found"},
        {"wrong method", {.method = "DELETE", .target = "/notes/1"}, 405, "method-not-allowed"},
        {"wrong type",
         {.headers = {key, {"Content-Type", "text/plain"}}, .body = note},
         415,
         "type-not-supported"},
        {"a coded body",
         {.headers = {key, json, {"Content-Encoding", "gzip"}}, .body = note},
         415,
         "type-not-supported"},
        {"two types", {.headers = {key, json, json}, .body = note}, 400, "request-invalid"},
        {"broken JSON comes before the key",
         {.headers = {json}, .body = "{"},
         400,
         "request-invalid"},
        {"no key comes before the fields", {.headers = {json}, .body = "{}"}, 400, "key-missing"},
        {"empty key",
         {.headers = {{"Idempotency-Key", ""}, json}, .body = note},
         400,
         "key-invalid"},
        {"two keys", {.headers = {key, key, json}, .body = note}, 400, "key-invalid"},
        {"missing field", {.headers = {key, json}, .body = "{}"}, 400, "request-invalid"},
        {"unknown field",
         {.headers = {key, json}, .body = R"({"text":"a","x":1})"},
         400,
         "request-invalid"},
        {"duplicate name",
         {.headers = {key, json}, .body = R"({"text":"a","text":"b"})"},
         400,
         "request-invalid"},
        {"its own problem()",
         {.headers = {key, json}, .body = R"({"text":""})"},
         400,
         "request-invalid"},
        {"broken form",
         {.headers = {key, {"Content-Type", "application/x-www-form-urlencoded"}},
          .body = "text=%zz"},
         400,
         "request-invalid"},
        {"broken query", {.method = "GET", .target = "/notes/7?style=%zz"}, 400, "request-invalid"},
        {"bad path parameter", {.method = "GET", .target = "/notes/seven"}, 400, "request-invalid"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.name);
        const auto answer = ask(c.ask);
        EXPECT_EQ(answer.status(), c.status);
        EXPECT_EQ(answer.type(), c.type);
        EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
    }
    EXPECT_EQ(seen_.notes, 0);
    EXPECT_EQ(make_note("k", note).status(), 201);  // None of the refusals used up the key.
}

TEST_F(HttpServerTest, says_which_methods_there_are_and_how_to_authenticate) {
    EXPECT_EQ(ask({.method = "DELETE", .target = "/notes/1"}).header("Allow"), "PUT, GET, HEAD");
    EXPECT_EQ(ask({.token = ""}).header("WWW-Authenticate"), "Bearer realm=\"pawl\"");
}

TEST_F(HttpServerTest, a_request_in_progress_is_busy_until_it_is_done) {
    const Ask pay{.target = "/notes/7/payment", .headers = {{"Idempotency-Key", "k1"}}};
    auto first = std::async(std::launch::async, [&] { return ask(pay); });
    ASSERT_EQ(
        seen_.called.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready
    );

    const auto busy = ask(pay);
    release();
    const auto done = first.get();

    EXPECT_EQ(busy.status(), 409);
    EXPECT_EQ(busy.type(), "in-progress");
    EXPECT_EQ(busy.header("Retry-After"), "1");
    EXPECT_EQ(done.status(), 200);
    EXPECT_EQ(ask(pay).body(), done.body());
    EXPECT_EQ(seen_.calls, 1);
}

TEST_F(HttpServerTest, a_phase_that_throws_is_not_final_and_leaks_no_secret) {
    seen_.broken = true;
    const auto failed = make_note("k1", R"({"text":"hello"})");
    seen_.broken = false;
    const auto again = make_note("k1", R"({"text":"hello"})");

    EXPECT_EQ(failed.status(), 500);
    EXPECT_EQ(failed.type(), "internal");
    EXPECT_NE(failed.header("Retry-After"), "");
    EXPECT_EQ(failed.text.find("secret"), std::string::npos);
    EXPECT_EQ(again.status(), 201);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "");
}

TEST_F(HttpServerTest, the_key_may_come_in_a_form_field_but_not_twice) {
    const Header form{"Content-Type", "application/x-www-form-urlencoded"};
    const Ask click{.headers = {form}, .body = "text=hello&idempotency_key=k1"};

    EXPECT_EQ(ask(click).status(), 201);
    EXPECT_EQ(ask(click).header("Idempotent-Replayed"), "true");
    EXPECT_EQ(seen_.notes, 1);
    EXPECT_EQ(
        ask({.headers = {form, {"Idempotency-Key", "k1"}}, .body = click.body}).type(),
        "key-invalid"
    );
    EXPECT_EQ(
        ask({.headers = {form}, .body = "text=hello&idempotency_key=a,b"}).type(), "key-invalid"
    );
    for (const std::string fields : {"&idempotency_key=", "&idempotency_key=k&idempotency_key=k"}) {
        EXPECT_EQ(ask({.headers = {form}, .body = "text=a" + fields}).type(), "key-invalid");
        EXPECT_EQ(
            ask({.headers = {form, {"Idempotency-Key", "k2"}}, .body = "text=a" + fields}).type(),
            "key-invalid"
        );
    }
}

TEST_F(HttpServerTest, reports_the_state_of_the_callers_key) {
    auto state = [&](const std::string& key, const std::string& token) {
        return ask({.method = "GET", .target = "/idempotency-keys/" + key, .token = token});
    };
    make_note("k1", R"({"text":"hello"})");

    EXPECT_EQ(state("k1", "jane").body(), R"({"state":"finished"})");
    EXPECT_EQ(state("k1", "joe").status(), 404);
    EXPECT_EQ(state("k1", "joe").type(), "not-found");
    EXPECT_EQ(state("k2", "jane").status(), 404);
    EXPECT_EQ(state("k1,k2", "jane").status(), 404) << "an invalid key is never found";
    EXPECT_EQ(state("k1", "").status(), 401);
}

TEST_F(HttpServerTest, queries_and_natural_keys_need_no_key) {
    EXPECT_EQ(
        ask({.method = "GET", .target = "/notes/7?style=%20bold"}).body(),
        R"({"number":7,"text":"jane bold"})"
    );
    EXPECT_EQ(
        ask({.method = "PUT",
             .target = "/notes/7",
             .headers = {{"Content-Type", "application/json"}},
             .body = R"({"text":"x"})"})
            .body(),
        R"({"number":7,"text":"x"})"
    );
    const auto head = ask({.method = "HEAD", .target = "/notes/7"});
    EXPECT_EQ(head.status(), 200);
    EXPECT_EQ(head.body(), "");
    EXPECT_EQ(head.header("Content-Length"), "26");  // {"number":7,"text":"jane"}
}

// Before, the exception left a thread of the server and ended the process.
TEST_F(HttpServerTest, an_exception_outside_of_phases_is_a_500_and_the_server_survives) {
    for (const auto& answer : {ask({.token = "a bug"}), make_note("k1", R"({"text":"a bug"})")}) {
        EXPECT_EQ(answer.status(), 500);
        EXPECT_EQ(answer.type(), "internal");
        EXPECT_EQ(answer.body().find("a bug"), std::string::npos);
    }

    EXPECT_EQ(make_note("k1", R"({"text":"hello"})").status(), 201);
}

TEST_F(HttpServerTest, an_answer_has_the_id_of_its_request) {
    const std::vector<Header> given{{"X-Request-Id", "req-7"}};
    for (const auto* token : {"jane", ""})
        EXPECT_EQ(ask({.headers = given, .token = token}).header("X-Request-Id"), "req-7");
}

TEST_F(HttpServerTest, each_request_is_authenticated_once) {
    make_note("k", R"({"text":"a"})");
    EXPECT_EQ(authenticated_, 1);
    ask({.method = "GET", .target = "/notes/1"});
    EXPECT_EQ(authenticated_, 2);
    ask({.method = "GET", .target = "/livez"});
    EXPECT_EQ(authenticated_, 2);
}

TEST_F(HttpServerTest, livez_needs_no_credentials) {
    EXPECT_EQ(ask({.method = "GET", .target = "/livez", .token = ""}).body(), "ok\n");
    EXPECT_EQ(ask({.method = "HEAD", .target = "/livez", .token = ""}).status(), 200);
    EXPECT_EQ(ask({.method = "POST", .target = "/livez", .token = ""}).status(), 401);
    EXPECT_EQ(ask({.method = "POST", .target = "/livez"}).status(), 404);
}

TEST_F(HttpServerTest, the_access_log_has_a_line_per_request_with_the_route_and_no_secret) {
    make_note("secret-key", R"({"text":"secret"})");
    make_note("secret-key", R"({"text":"another secret"})");
    ask({.method = "GET", .target = "/notes/7?style=secret"});
    ask({.target = "/secret", .token = ""});
    server_->stop(std::chrono::seconds{5});
    server_.reset();  // Writes out the log.

    std::ifstream file{log_};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 4U);
    const auto hash = engine::key_hash({"", "jane", "secret-key"}).substr(0, 16);
    EXPECT_NE(
        lines[0].find(R"("account":"jane","operation":"make_note","key_hash":")" + hash + R"("})"),
        std::string::npos
    ) << lines[0];
    EXPECT_NE(lines[1].find(hash + R"(","problem":"key-reused"})"), std::string::npos) << lines[1];
    EXPECT_NE(lines[3].find(R"("problem":"unauthorized"})"), std::string::npos) << lines[3];
    EXPECT_NE(
        lines[0].find(R"("client":"127.0.0.1","method":"POST","route":"/notes","status":201)"),
        std::string::npos
    );
    EXPECT_NE(lines[2].find(R"("route":"/notes/{number}","status":200)"), std::string::npos);
    EXPECT_NE(lines[3].find(R"("route":"","status":401)"), std::string::npos);
    for (const auto& line : lines) {
        EXPECT_NE(line.find(R"("request_id":")"), std::string::npos) << line;
        EXPECT_EQ(line.find("secret"), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace pawl
