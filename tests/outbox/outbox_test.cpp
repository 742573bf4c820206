#include "tests/outbox/ends.hpp"
#include "tests/outbox/receiver.hpp"
#include "tests/postgres/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <postgresql/libpq-fe.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// The outbox on each database, with a server that honours keys and counts requests.
namespace pawl {
namespace {

using namespace std::chrono_literals;
using testing::quick_client;
using testing::Receiver;

class OutboxTest : public ::testing::TestWithParam<std::string> {
protected:
    OutboxTest() {
        if (GetParam() == "sqlite") {
            std::string name = ::testing::TempDir() + "pawl-outbox-XXXXXX";
            folder_ = ::mkdtemp(name.data());
            url_ = "sqlite:" + folder_ + "/shop.db";
        } else {
            postgres_ = std::make_unique<testing::PostgresDatabase>();
            url_ = postgres_->url();
        }
        open();
    }
    ~OutboxTest() override {
        database_.reset();
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }
    void open() {
        database_ = Database::open(url_);
        constexpr std::array<const Sql*, 1> tables{&testing::ends_table};
        database_->migrate("test", tables);
        Outbox::migrate(*database_);
    }
    std::unique_ptr<Outbox> outbox(OutboxOptions options = {}) {
        return std::make_unique<Outbox>(*database_, client_, &testing::write_end, options);
    }
    ClientRequest order() const {
        return {.method = "POST", .target = receiver_.url(), .body = R"({"item":7})"};
    }
    bool put(const std::string& key) {
        bool stored = false;
        database_->write([&](Tx& tx) { stored = Outbox::put(tx, order(), ClientKey::saved(key)); });
        return stored;
    }
    // Key and status of each ended request, sorted by key.
    std::vector<std::string> ends() {
        static constexpr Statement<0> all{
            "all_ends",
            "SELECT key || ' ' || status FROM ends ORDER BY key",
            "SELECT key || ' ' || status FROM ends ORDER BY key"};
        std::vector<std::string> found;
        database_->write([&](Tx& tx) { found = query<std::string>(tx, all); });
        return found;
    }
    void make_due() {
        static constexpr Statement<0> now{
            "make_due",
            "UPDATE pawl_outbox SET next_at = '2020-01-01T00:00:00.000Z'",
            "UPDATE pawl_outbox SET next_at = '2020-01-01T00:00:00.000Z'"};
        database_->write([&](Tx& tx) { execute(tx, now); });
    }

    std::string folder_;
    std::string url_;
    std::unique_ptr<testing::PostgresDatabase> postgres_;
    Receiver receiver_;
    std::unique_ptr<Database> database_;
    Client client_{quick_client()};
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    OutboxTest,
    ::testing::Values("sqlite", "postgres"),
    [](const auto& parameter) { return parameter.param; }
);

TEST_P(OutboxTest, only_committed_requests_are_sent) {
    const auto out = outbox();
    put("k-1");
    EXPECT_THROW(
        database_->write([&](Tx& tx) {
            Outbox::put(tx, order(), ClientKey::saved("k-2"));
            throw std::runtime_error{"a bad day"};
        }),
        std::runtime_error
    );

    EXPECT_EQ(out->send_due(), 1);
    EXPECT_EQ(out->send_due(), 0);

    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{"k-1", 1}}));
    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
}

TEST_P(OutboxTest, a_key_is_put_once_and_never_with_another_request) {
    const auto out = outbox();

    EXPECT_TRUE(put("k-1"));
    EXPECT_FALSE(put("k-1"));
    EXPECT_THROW(
        database_->write([&](Tx& tx) {
            auto other = order();
            other.body = R"({"item":8})";
            Outbox::put(tx, other, ClientKey::saved("k-1"));
        }),
        std::logic_error
    );
    EXPECT_EQ(out->send_due(), 1);
    EXPECT_FALSE(put("k-1"));  // It has been answered.
    EXPECT_EQ(out->send_due(), 0);
}

TEST_P(OutboxTest, a_request_that_cannot_be_stored_exactly_is_refused) {
    const auto refused = [&](const ClientRequest& request) {
        EXPECT_THROW(
            database_->write([&](Tx& tx) { Outbox::put(tx, request); }), std::invalid_argument
        );
    };
    refused({.method = "POST", .target = receiver_.url(), .body = "\xff"});
    refused({.method = "POST", .target = receiver_.url(), .body = std::string(1, '\0')});
    refused({.method = "POST", .target = receiver_.url(), .body = std::string(1024 * 1024 + 1, 'a')}
    );
    refused({.method = "POST", .target = ""});
    refused({.method = "POST", .target = receiver_.url() + std::string(2'001, 'a')});
    refused({.method = "POST", .target = receiver_.url(), .headers = {{"X-A", "a\r\nB: c"}}});
    refused({.method = "PO\nST", .target = receiver_.url()});
    refused({.method = "POST", .target = receiver_.url(), .headers = {{"X-A", "\xff"}}});
    refused({.method = "POST", .target = receiver_.url(), .headers = {{"idempotency-key", "a"}}});
}

TEST_P(OutboxTest, a_request_is_sent_with_all_that_it_was_put_with) {
    std::vector<OutboxResult> told;
    Outbox out{*database_, client_, [&](Tx&, const OutboxResult& end) { told.push_back(end); }};
    ClientKey key = ClientKey::saved("x");
    database_->write([&](Tx& tx) {
        key = Outbox::put(
            tx,
            {.method = "PATCH",
             .target = receiver_.url(),
             .headers = {{"X-A", "ä \"b\""}},
             .body = "a=ä&b=1",
             .content_type = "application/x-www-form-urlencoded"}
        );
    });

    EXPECT_EQ(out.send_due(), 1);

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].key, key);
    EXPECT_EQ(told[0].request.method, "PATCH");
    EXPECT_EQ(told[0].request.headers.at(0).value, "ä \"b\"");
    EXPECT_EQ(told[0].request.body, "a=ä&b=1");
    EXPECT_EQ(told[0].request.content_type, "application/x-www-form-urlencoded");
    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{key.text(), 1}}));
}

TEST_P(OutboxTest, is_sent_again_under_its_key_until_the_answer_is_final) {
    const auto out = outbox({.wait_first = 1ms});
    receiver_.say_first({503, 503, 0, 429, 401, 409});
    put("k-1");

    out->start();
    for (int i = 0; i < 500 && ends().empty(); ++i) std::this_thread::sleep_for(20ms);
    out->stop();

    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{"k-1", 7}}));
}

TEST_P(OutboxTest, a_request_whose_end_cannot_be_written_is_sent_again) {
    int runs = 0;
    Outbox out{*database_, client_, [&](Tx& tx, const OutboxResult& end) {
                   testing::write_end(tx, end);
                   if (++runs == 1) throw std::runtime_error{"a bad day"};
               }};
    put("k-1");

    EXPECT_EQ(out.send_due(), 1);
    EXPECT_EQ(ends(), std::vector<std::string>{});
    make_due();  // Its claim has ended.
    EXPECT_EQ(out.send_due(), 1);

    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{"k-1", 2}}));
}

// Found by reading: it counted as in flight forever, so that stop() never returned; later it failed
// all that were claimed with it.
TEST_P(OutboxTest, a_request_that_cannot_be_sent_blocks_no_other) {
    static constexpr Statement<1> by_hand{
        "by_hand",
        "INSERT INTO pawl_outbox (target, key, method, headers, body, next_at, created_at) VALUES "
        "($1, "
        "'a b', 'POST', '[]', '', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'), ($1, "
        "'a', 'POST', '{', '', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z')",
        "INSERT INTO pawl_outbox (target, key, method, headers, body, next_at, created_at) VALUES "
        "($1, "
        "'a b', 'POST', '[]', '', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'), ($1, "
        "'a', 'POST', '{', '', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z')"};
    database_->write([&](Tx& tx) { execute(tx, by_hand, receiver_.url()); });
    put("k-1");
    const auto out = outbox();

    EXPECT_EQ(out->send_due(), 3);

    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
    EXPECT_EQ(out->waiting().waiting, 2);
    EXPECT_EQ(out->send_due(), 0);  // Not before they are due again.
    static constexpr Statement<0> why{
        "why",
        "SELECT error FROM pawl_outbox WHERE state = 'waiting' ORDER BY key",
        "SELECT error FROM pawl_outbox WHERE state = 'waiting' ORDER BY key"};
    std::vector<std::string> errors;
    database_->write([&](Tx& tx) { errors = query<std::string>(tx, why); });
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0], "its headers are not what put() writes");
    EXPECT_NE(errors[1].find("key"), std::string::npos) << errors[1];
}

// Found by reading: after a day of 401, requests that were never carried out needed a person.
TEST_P(OutboxTest, a_request_that_was_never_carried_out_is_sent_without_a_limit) {
    const auto not_begun = [&] {
        static constexpr Statement<0> count{
            "not_begun",
            "SELECT count(*) FROM pawl_outbox WHERE first_at IS NULL",
            "SELECT count(*) FROM pawl_outbox WHERE first_at IS NULL"};
        std::int64_t found = 0;
        database_->write([&](Tx& tx) { found = query_one<std::int64_t>(tx, count); });
        return found;
    };
    const auto out = outbox();
    receiver_.say_first({401, 0, 0, 401});
    put("k-1");
    EXPECT_EQ(not_begun(), 1);

    out->send_due();
    EXPECT_EQ(not_begun(), 1);
    make_due();
    out->send_due();
    EXPECT_EQ(not_begun(), 0);  // Lost.
    make_due();
    out->send_due();
    EXPECT_EQ(not_begun(), 0);  // 401 again, which shows nothing about the lost one.
    make_due();
    out->send_due();

    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
}

// Found by reading: one of two threads waited forever for what the other had claimed.
TEST_P(OutboxTest, several_threads_may_send_due_requests) {
    const auto out = outbox({.at_once = 2});
    std::vector<std::string> due;
    for (int i = 10; i < 60; ++i) {
        put("k-" + std::to_string(i));
        due.push_back("k-" + std::to_string(i) + " 201");
    }
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                while (out->send_due() > 0) {
                }
            });
    }

    EXPECT_EQ(ends(), due);
    out->start();
    EXPECT_THROW(out->send_due(), std::logic_error);
}

TEST_P(OutboxTest, an_end_that_throws_anything_is_written_later) {
    int runs = 0;
    Outbox out{*database_, client_, [&](Tx& tx, const OutboxResult& end) {
                   if (++runs == 1) throw 17;
                   testing::write_end(tx, end);
               }};
    put("k-1");

    EXPECT_EQ(out.send_due(), 1);
    make_due();
    EXPECT_EQ(out.send_due(), 1);

    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 201"}));
}

TEST_P(OutboxTest, a_request_first_sent_long_ago_needs_a_person) {
    const auto out = outbox();
    receiver_.say_first({503, 503});
    put("k-1");
    EXPECT_EQ(out->send_due(), 1);
    static constexpr Statement<0> older{
        "older",
        "UPDATE pawl_outbox SET first_at = '2020-01-01T00:00:00.000Z'",
        "UPDATE pawl_outbox SET first_at = '2020-01-01T00:00:00.000Z'"};
    database_->write([&](Tx& tx) { execute(tx, older); });
    make_due();

    EXPECT_EQ(out->send_due(), 1);

    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{"k-1", 2}}));  // Two tries, at first.
    EXPECT_EQ(ends(), (std::vector<std::string>{"k-1 0"}));
    EXPECT_EQ(out->waiting().gave_up, 1);
    EXPECT_EQ(out->waiting().waiting, 0);
}

TEST_P(OutboxTest, of_several_senders_one_writes_each_end) {
    std::vector<std::string> due;
    for (int i = 100; i < 250; ++i) {
        put("k-" + std::to_string(i));
        due.push_back("k-" + std::to_string(i) + " 201");
    }
    EXPECT_EQ(outbox()->waiting().waiting, 150);
    {
        const auto one = outbox();
        const auto other = outbox();
        one->start();
        other->start();
        for (int i = 0; i < 500 && ends().size() < due.size(); ++i)
            std::this_thread::sleep_for(20ms);
    }

    EXPECT_EQ(ends(), due);
    for (const auto& [key, times] : receiver_.asked()) EXPECT_EQ(times, 1) << key;
}

TEST_P(OutboxTest, another_librarys_transaction_may_put_too) {
    const auto insert = [&](const std::string& key) {
        return Outbox::insert_of(
            order(),
            ClientKey::saved(key),
            GetParam() == "sqlite" ? Outbox::Dialect::sqlite : Outbox::Dialect::postgres
        );
    };
    const auto undone = insert("k-1");
    const auto kept = insert("k-2");
    if (GetParam() == "sqlite") {
        sqlite3* own = nullptr;
        ASSERT_EQ(sqlite3_open((folder_ + "/shop.db").c_str(), &own), SQLITE_OK);
        sqlite3_busy_timeout(own, 5'000);
        const auto run = [&](const Outbox::Insert& one, const char* end) {
            sqlite3_exec(own, "BEGIN", nullptr, nullptr, nullptr);
            sqlite3_stmt* statement = nullptr;
            ASSERT_EQ(sqlite3_prepare_v2(own, one.sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
                << sqlite3_errmsg(own);
            for (std::size_t i = 0; i < one.values.size(); ++i)
                sqlite3_bind_text(
                    statement, static_cast<int>(i) + 1, one.values[i].c_str(), -1, SQLITE_STATIC
                );
            EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(own);
            sqlite3_finalize(statement);
            EXPECT_EQ(sqlite3_exec(own, end, nullptr, nullptr, nullptr), SQLITE_OK);
        };
        run(undone, "ROLLBACK");
        run(kept, "COMMIT");
        sqlite3_close(own);
    } else {
        PGconn* own = PQconnectdb(url_.c_str());
        const auto run = [&](const Outbox::Insert& one, const char* end) {
            PQclear(PQexec(own, "BEGIN"));
            std::vector<const char*> values;
            for (const auto& value : one.values) values.push_back(value.c_str());
            PGresult* done = PQexecParams(
                own,
                one.sql.c_str(),
                static_cast<int>(values.size()),
                nullptr,
                values.data(),
                nullptr,
                nullptr,
                0
            );
            EXPECT_EQ(PQresultStatus(done), PGRES_COMMAND_OK) << PQerrorMessage(own);
            PQclear(done);
            PQclear(PQexec(own, end));
        };
        run(undone, "ROLLBACK");
        run(kept, "COMMIT");
        PQfinish(own);
    }

    EXPECT_EQ(outbox()->send_due(), 1);

    EXPECT_EQ(receiver_.asked(), (std::map<std::string, int>{{"k-2", 1}}));
}

// kill -9 of the sending process at each of its fault points; another goes on.
TEST_P(OutboxTest, a_crash_anywhere_leaves_one_request_and_one_end) {
    const auto run = [&](const std::string& fault, const std::string& key) {
        database_.reset();  // A SQLite file belongs to one server.
        const auto child = ::fork();
        if (child == 0) {
            if (!fault.empty()) ::setenv("PAWL_FAULT_AT", (fault + ":1:kill9").c_str(), 1);
            ::execl(
                PAWL_OUTBOX_VICTIM,
                "outbox_victim",
                url_.c_str(),
                receiver_.url().c_str(),
                key.empty() ? nullptr : key.c_str(),
                nullptr
            );
            ::_exit(127);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        open();
        return status;
    };
    struct Case {
        std::string fault;
        int asked;  // In all: before and after its death.
    };
    const std::vector<Case> cases{
        {"outbox.send.before", 1}, {"outbox.record.before", 2}, {"outbox.record.after", 1}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(cases[i].fault);
        const auto key = "k-" + std::to_string(i);
        const int status = run(cases[i].fault, key);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

        make_due();
        outbox()->send_due();

        EXPECT_EQ(receiver_.asked().at(key), cases[i].asked);
        const auto all = ends();
        EXPECT_EQ(std::count(all.begin(), all.end(), key + " 201"), 1);
    }
    // A process that survives sends what it has put.
    EXPECT_EQ(run("", "k-9"), 0);
    EXPECT_EQ(receiver_.asked().at("k-9"), 1);
}

}  // namespace
}  // namespace pawl
