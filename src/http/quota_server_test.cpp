#include <pawl/client.hpp>
#include <pawl/http.hpp>
#include <pawl/json.hpp>

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
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// 429: what a tenant over its quota gets, and that other tenants are still served.
namespace pawl {
namespace {

using http::testing::Answer;
using http::testing::RawSocket;
using namespace std::chrono_literals;

struct Paid {
    std::string id;
};

// Payments of "slow" wait until the test releases them.
class Pay {
public:
    static constexpr std::string_view name = "pay";
    static constexpr Settings settings{.provider_key_lifetime = 20h};
    struct Request {
        std::string id;
        std::optional<std::string> problem() const {
            if (id == "a bug") throw std::runtime_error{"a bug in problem()"};
            return std::nullopt;
        }
    };
    using Started = pawl::Started<Request>;
    struct Ready {
        static constexpr std::string_view name = "ready";
        std::string id;
    };
    struct Seen {
        std::atomic<int> calls{0};
        std::promise<void> slow_called;
        std::promise<void> let_go;
        std::shared_future<void> go_on{let_go.get_future().share()};
    };
    explicit Pay(Seen& seen) : seen_{seen} {}
    Next<Ready> prepare(Tx&, const Started& at) { return Ready{at.request.id}; }
    Outcome<Paid> pay(KeyedCall&, const Ready& at) {
        ++seen_.calls;
        if (at.id == "slow") {
            seen_.slow_called.set_value();
            if (seen_.go_on.wait_for(10s) != std::future_status::ready) return Retry{};
        }
        return Paid{at.id};
    }
    Finish keep(Tx&, const Ready&, const Paid& paid) { return answer(201, paid); }
    using Flow =
        Steps<Atomic<&Pay::prepare>, Foreign<Repeat::safe_with_key, &Pay::pay, &Pay::keep>>;

private:
    Seen& seen_;
};

class Show {
public:
    static constexpr std::string_view name = "show";
    struct Request {};
    Response answer(Snapshot&, const Asked<Request>&) { return respond(200, Paid{"shown"}); }
};

// A service on SQLite in memory. A token names a tenant and an account: "acme.jane".
class QuotaServerTest : public ::testing::Test {
protected:
    ~QuotaServerTest() override {
        if (!released_) seen_.let_go.set_value();
        if (server_) server_->stop(5s);
        service_.stop(5s);
        std::filesystem::remove(log_);
    }

    void serve(TenantQuota quota) {
        service_.add(Pay{seen_});
        server_.emplace(
            service_,
            HttpOptions{
                .listen = "127.0.0.1:0",
                .authenticate = [](const RequestHead& head) -> std::optional<Principal> {
                    const auto token = head.header("Authorization").value_or("");
                    const auto dot = token.find('.');
                    if (dot == token.npos) return std::nullopt;
                    return Principal{
                        std::string{token.substr(0, dot)}, std::string{token.substr(dot + 1)}};
                },
                .access_log = log_,
                .quota = quota}
        );
        server_->post<Pay>("/payments");
        server_->get("/payments", Show{});
        service_.start();
        server_->start();
    }

    std::string bytes_of(const std::string& who, const std::string& key, const std::string& body) {
        return "POST /payments HTTP/1.1\r\nHost: a\r\nAuthorization: " + who +
               "\r\nIdempotency-Key: " + key +
               "\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    Answer send(const std::string& bytes) {
        auto socket = RawSocket::to(server_->port());
        socket.send(bytes);
        return {socket.read_message()};
    }
    Answer pay(const std::string& who, const std::string& key, const std::string& id = "quick") {
        return send(bytes_of(who, key, R"({"id":")" + id + "\"}"));
    }
    Answer get(const std::string& who, const std::string& path = "/payments") {
        return send("GET " + path + " HTTP/1.1\r\nHost: a\r\nAuthorization: " + who + "\r\n\r\n");
    }
    // From here on Acme has one request in flight.
    RawSocket hold() {
        auto socket = RawSocket::to(server_->port());
        socket.send(bytes_of("acme.jane", "slow", R"({"id":"slow"})"));
        EXPECT_EQ(seen_.slow_called.get_future().wait_for(10s), std::future_status::ready);
        return socket;
    }
    void let_go() {
        released_ = true;
        seen_.let_go.set_value();
    }
    std::int64_t keys() {
        static constexpr Statement<0> count{
            "count_keys", "SELECT count(*) FROM pawl_idempotency_keys", {}};
        std::int64_t found = 0;
        database_->write([&](Tx& tx) { found = query_one<std::int64_t>(tx, count); });
        return found;
    }

    std::string log() const {
        std::stringstream text;
        text << std::ifstream{log_}.rdbuf();
        return text.str();
    }

    std::string log_{::testing::TempDir() + "quota_" + std::to_string(::getpid()) + ".jsonl"};
    Pay::Seen seen_;
    bool released_{false};
    std::unique_ptr<Database> database_{Database::open("sqlite::memory:")};
    Service service_{*database_};
    std::optional<HttpServer> server_;
};

TEST_F(QuotaServerTest, a_tenant_over_its_quota_gets_retry_after_and_others_are_served) {
    serve({.in_flight_max = 1});
    auto held = hold();

    const auto refused = pay("acme.joe", "k1");
    const auto other = pay("other.jane", "k1");

    EXPECT_EQ(refused.status(), 429);
    EXPECT_EQ(refused.type(), "quota-exceeded");
    EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_EQ(refused.header("Idempotency-Expires"), "");
    EXPECT_NE(refused.body().find("\"retry\":true"), std::string::npos);
    EXPECT_NE(refused.body().find("\"code\":\"PAWL0013\""), std::string::npos);
    EXPECT_EQ(other.status(), 201);

    let_go();
    EXPECT_EQ(Answer{held.read_message()}.status(), 201);
    const auto again = pay("acme.joe", "k1");
    EXPECT_EQ(again.status(), 201);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "");  // The refusal is not a replay.
    EXPECT_EQ(seen_.calls, 3);
}

// Before, one rider's slow bookings locked out all other riders of the tenant (issue 16, number 8).
TEST_F(QuotaServerTest, an_account_with_its_share_in_flight_does_not_shut_out_its_tenant) {
    serve({.in_flight_max = 4, .account_in_flight_max = 1});
    auto held = hold();

    const auto refused = get("acme.jane");

    EXPECT_EQ(refused.status(), 429);
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_NE(refused.body().find("of this account"), std::string::npos) << refused.body();
    EXPECT_EQ(get("acme.joe").status(), 200);
    EXPECT_EQ(pay("acme.joe", "k1").status(), 201);
    let_go();
    EXPECT_EQ(Answer{held.read_message()}.status(), 201);
    EXPECT_EQ(get("acme.jane").status(), 200);
}

TEST_F(QuotaServerTest, the_quota_is_checked_right_after_the_credentials) {
    serve({.in_flight_max = 1});
    const auto held = hold();
    const auto keys_before = keys();

    EXPECT_EQ(send(bytes_of("acme.joe", "k1", "{ no JSON")).status(), 429);
    EXPECT_EQ(send(bytes_of("acme.joe", "bad,key", "{}")).status(), 429);
    EXPECT_EQ(get("acme.joe").status(), 429);
    EXPECT_EQ(get("acme.joe", "/idempotency-keys/slow").status(), 429);
    // This holds for repeats of requests in flight, too.
    EXPECT_EQ(pay("acme.jane", "slow", "slow").status(), 429);
    EXPECT_EQ(pay("no credentials", "k1").status(), 401);
    EXPECT_EQ(get("acme.joe", "/nowhere").status(), 404);
    EXPECT_EQ(get("", "/livez").status(), 200);

    EXPECT_EQ(keys(), keys_before);
}

TEST_F(QuotaServerTest, a_rate_counts_repeats_and_its_refusal_says_when_to_retry) {
    serve({.rate_per_s = 0.001, .burst = 2});
    ASSERT_EQ(pay("acme.jane", "k1").status(), 201);
    ASSERT_EQ(pay("acme.jane", "k1").header("Idempotent-Replayed"), "true");

    const auto refused = pay("acme.jane", "k1");

    EXPECT_EQ(refused.status(), 429);
    const auto seconds = std::stoi("0" + refused.header("Retry-After"));
    EXPECT_LE(seconds, 1'000);
    EXPECT_GT(seconds, 980);
    EXPECT_EQ(pay("other.jane", "k1").status(), 201);
}

TEST_F(QuotaServerTest, a_request_no_longer_counts_after_it_ended_in_any_way) {
    serve({.in_flight_max = 1});

    for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(send(bytes_of("acme.joe", "k1", "{ no JSON")).status(), 400);
        EXPECT_EQ(pay("acme.joe", "k2", "a bug").status(), 500);
        EXPECT_EQ(get("acme.joe").status(), 200);
        EXPECT_EQ(get("acme.joe", "/idempotency-keys/unknown").status(), 404);
        EXPECT_EQ(pay("acme.joe", "k3").status(), 201);
    }
}

TEST_F(QuotaServerTest, our_client_waits_for_retry_after_and_then_gets_its_answer) {
    serve({.rate_per_s = 1, .burst = 1});
    ASSERT_EQ(pay("acme.jane", "k1").status(), 201);
    std::vector<std::chrono::milliseconds> waits;
    Client client{
        {.url = "http://127.0.0.1:" + std::to_string(server_->port()),
         .headers = {{"Authorization", "acme.jane"}},
         .wait_first = 1ms,
         .on_try = [&waits](const ClientTry& one) {
             if (one.again_in) waits.push_back(*one.again_in);
         }}};

    const auto ended = client.post("/payments", R"({"id":"quick"})", ClientKey::saved("k2"));

    const auto& answered = std::get<Answered>(ended);
    EXPECT_EQ(answered.status, 201);
    EXPECT_EQ(answered.tries, 2);
    EXPECT_FALSE(answered.in_doubt);
    EXPECT_FALSE(answered.replayed);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_GE(waits[0], 1s);  // The server asked for 1 s; by itself the client would wait 1 ms.
}

// The request goes on without its client, and still counts.
TEST_F(QuotaServerTest, a_request_still_counts_after_its_client_has_gone) {
    serve({.in_flight_max = 1});
    { auto gone = hold(); }

    EXPECT_EQ(pay("acme.joe", "k1").status(), 429);
    let_go();
    auto status = 429;
    for (const auto until = std::chrono::steady_clock::now() + 10s;
         status == 429 && std::chrono::steady_clock::now() < until;)
        status = pay("acme.joe", "k1").status();

    EXPECT_EQ(status, 201);
}

// Before, its answer, its quota and its line in the log belonged to a destroyed server.
TEST_F(QuotaServerTest, a_request_that_outlives_its_server_is_done_and_logged) {
    serve({.in_flight_max = 1});
    const auto held = hold();

    server_.reset();
    let_go();
    service_.stop(5s);

    EXPECT_EQ(keys(), 1);
    const auto line = R"("route":"/payments","status":201)";
    for (const auto until = std::chrono::steady_clock::now() + 10s;
         log().find(line) == std::string::npos && std::chrono::steady_clock::now() < until;)
        std::this_thread::yield();  // It closes when the last of its requests has ended.
    EXPECT_NE(log().find(line), std::string::npos) << log();
}

TEST_F(QuotaServerTest, an_account_without_a_tenant_is_counted_alone) {
    serve({.rate_per_s = 0.001, .burst = 1});

    EXPECT_EQ(pay(".jane", "k1").status(), 201);
    EXPECT_EQ(pay(".jane", "k2").status(), 429);
    EXPECT_EQ(pay(".joe", "k1").status(), 201);
    EXPECT_EQ(pay("jane.joe", "k1").status(), 201);  // The tenant "jane" is not the account "jane".
}

TEST_F(QuotaServerTest, the_access_log_says_which_limit_it_was) {
    serve({.in_flight_max = 1, .rate_per_s = 0.001, .burst = 1});
    pay("other.jane", "k1");
    pay("other.jane", "k2");
    {
        const auto held = hold();
        pay("acme.joe", "k3");
    }
    let_go();
    server_->stop(5s);
    server_.reset();  // Writes out the log.

    EXPECT_NE(log().find(R"("status":429,)"), std::string::npos);
    EXPECT_NE(log().find(R"("over_quota":"rate",)"), std::string::npos) << log();
    EXPECT_NE(log().find(R"("over_quota":"in_flight",)"), std::string::npos) << log();
}

}  // namespace
}  // namespace pawl
