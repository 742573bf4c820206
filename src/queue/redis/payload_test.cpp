#include "src/queue/redis/payload.hpp"

#include "src/json/members.hpp"
#include "tests/format_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace pawl::queue::sidekiq {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TimePoint now{1'795'250'001'004ms};
constexpr auto seconds = SidekiqTimes::seconds;
constexpr auto milliseconds = SidekiqTimes::milliseconds;

StagedJob staged() {
    StagedJob job;
    job.id = 5;
    job.jid = "0123456789abcdef01234567";
    job.queue = "mails";
    job.kind = "send_receipt";
    job.args = R"({"ride":7})";
    job.key_id = 42;
    job.created_at = now - 1s;
    return job;
}

std::string pushed(const StagedJob& job, SidekiqTimes times = seconds) {
    return std::get<std::string>(payload_of(job, now, times));
}

ClaimedJob taken(const std::string& payload) {
    return claimed_job_of(payload, {"default", now});
}

std::string with_args(const std::string& args) {
    return R"({"class":"C","jid":"j","args":)" + args + "}";
}

TEST(RedisPayloadTest, a_pushed_job_is_what_sidekiqs_client_writes) {
    EXPECT_EQ(
        pushed(staged()),
        R"({"class":"send_receipt","args":[{"ride":7}],"retry":true,"queue":"mails",)"
        R"("jid":"0123456789abcdef01234567","created_at":1795250000.004,)"
        R"("enqueued_at":1795250001.004,"pawl_key":42})"
    );
    EXPECT_THAT(pushed(staged(), milliseconds), HasSubstr(R"("created_at":1795250000004,)"));
}

TEST(RedisPayloadTest, a_job_is_taken_as_it_was_pushed) {
    for (const auto times : {seconds, milliseconds}) {
        const auto job = taken(pushed(staged(), times));

        EXPECT_EQ(job.raw.jid, "0123456789abcdef01234567");
        EXPECT_EQ(job.kind, "send_receipt");
        EXPECT_EQ(job.raw.args, R"({"ride":7})");
        EXPECT_EQ(job.raw.key_id, 42);
        EXPECT_EQ(job.raw.created_at, now - 1s);
        EXPECT_EQ(job.raw.attempt, 1);
        EXPECT_EQ(job.raw.origin, "redis queue:default");
        EXPECT_FALSE(job.called_at || job.raw.first_failed_at || job.raw.last_error);
    }
}

TEST(RedisPayloadTest, failures_and_history_from_another_queue_are_kept) {
    auto job = staged();
    job.failures = 3;
    job.called_at = now - 5s;
    job.first_failed_at = now - 4s;
    job.last_failed_at = now - 2s;
    job.last_error = "SMTP 550";
    job.history = R"([{"at":"x","error":"e"}])";

    const auto there = taken(pushed(job));

    EXPECT_EQ(there.failures, 3);
    EXPECT_EQ(there.called_at, now - 5s);
    EXPECT_EQ(there.raw.first_failed_at, now - 4s);
    EXPECT_EQ(there.raw.last_failed_at, now - 2s);
    EXPECT_EQ(there.raw.last_error, "SMTP 550");
    EXPECT_EQ(letter_of(pushed(job), {"", now}).history, job.history);
}

TEST(RedisPayloadTest, a_trace_is_where_opentelemetry_has_it_and_stays_over_failures_and_merges) {
    auto job = staged();
    EXPECT_EQ(pushed(job).find("trace"), std::string::npos);
    job.trace = core::TraceContext::from_headers(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1"
    );

    auto payload = pushed(job);

    EXPECT_THAT(
        payload,
        HasSubstr(R"("traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",)"
                  R"("tracestate":"a=1")")
    );
    payload = with_merge(with_failure(payload, "e", now, seconds), {"ann", now, false}, seconds);
    EXPECT_EQ(taken(payload).trace, job.trace);
    EXPECT_FALSE(taken(R"({"class":"C","jid":"j","traceparent":"00-no-trace"})").trace);
    EXPECT_FALSE(taken(R"({"class":"C","jid":"j","traceparent":7})").trace);
}

// 2^63-1 is not exact as a double, 1e22 has several spellings, 0.1 is not exact.
TEST(RedisPayloadTest, arguments_come_through_failures_and_merges_byte_for_byte) {
    const std::string args =
        R"({"id":9223372036854775807,"big":1e22,"rate":0.1,"cents":1.10,"none":[[],{},[{}]],)"
        R"("huge":123456789012345678901234567890,"text":"a\u00fc\"}"})";
    auto payload = R"({"class":"C","jid":"j","queue":"q","args":[)" + args +
                   R"(],"tags":["x"],"retry":25,"cattr":{"n":18446744073709551616}})";

    payload = with_failure(payload, "an error", now, seconds);
    payload = with_call(payload, now, milliseconds);
    payload = with_merge(payload, {"ann", now, false}, seconds);

    EXPECT_EQ(taken(payload).raw.args, args);
    EXPECT_THAT(payload, HasSubstr(R"("tags":["x"],"retry":25,)"));
    EXPECT_THAT(payload, HasSubstr(R"("cattr":{"n":18446744073709551616})"));
}

TEST(RedisPayloadTest, a_single_argument_is_unwrapped_and_several_are_a_list) {
    EXPECT_EQ(taken(with_args(R"([{"a":1}])")).raw.args, R"({"a":1})");
    EXPECT_EQ(taken(with_args("[7]")).raw.args, "7");
    EXPECT_EQ(taken(with_args("[1, \"b\"]")).raw.args, "[1, \"b\"]");
    EXPECT_EQ(taken(with_args("[]")).raw.args, "[]");
    EXPECT_EQ(taken(with_args("7")).raw.args, "7");
    EXPECT_EQ(taken(R"({"class":"C","jid":"j"})").raw.args, "[]");
}

TEST(RedisPayloadTest, arguments_that_are_not_json_travel_as_text) {
    auto job = staged();
    job.args = "not json \xC3\xBC";

    EXPECT_EQ(taken(pushed(job)).raw.args, job.args);
    EXPECT_EQ(taken(with_args(R"(["a"])")).raw.args, R"("a")") << "a text of Ruby's is JSON";
}

TEST(RedisPayloadTest, a_job_that_redis_can_never_hold_is_refused) {
    auto job = staged();
    job.args = "\"" + std::string((8U << 20U), 'x') + "\"";
    auto refused = payload_of(job, now, seconds);
    ASSERT_TRUE(std::holds_alternative<RefusedJob>(refused));
    EXPECT_EQ(std::get<RefusedJob>(refused).id, 5);
    EXPECT_THAT(std::get<RefusedJob>(refused).why, HasSubstr("8 MiB"));

    job.args = "\xFF";
    EXPECT_TRUE(std::holds_alternative<RefusedJob>(payload_of(job, now, seconds)));
}

TEST(RedisPayloadTest, a_job_without_a_kind_or_an_id_is_refused) {
    auto nameless = staged();
    nameless.kind = "";
    auto without_id = staged();
    without_id.jid = "";

    for (const auto& job : {nameless, without_id}) {
        const auto refused = payload_of(job, now, seconds);
        ASSERT_TRUE(std::holds_alternative<RefusedJob>(refused));
        EXPECT_EQ(std::get<RefusedJob>(refused).why, "it has no kind or no id");
    }
}

TEST(RedisPayloadTest, a_payload_omits_members_without_a_value) {
    auto job = staged();
    job.key_id = std::nullopt;
    job.failures = 1;
    job.first_failed_at = job.last_failed_at = now - 4s;
    job.history = "no list";

    const auto payload = pushed(job);

    EXPECT_THAT(payload, Not(HasSubstr("pawl_key")));
    EXPECT_THAT(payload, Not(HasSubstr("retried_at"))) << "the first failure was no retry";
    EXPECT_THAT(payload, Not(HasSubstr("pawl_history")));
    EXPECT_EQ(taken(payload).failures, 1);
}

TEST(RedisPayloadTest, both_forms_of_time_are_read_whichever_is_written) {
    EXPECT_EQ(time_of_number("1795250001.004"), now);
    EXPECT_EQ(time_of_number("1795250001.0039999"), now);
    EXPECT_EQ(time_of_number("1.795250001004e9"), now);
    EXPECT_EQ(time_of_number("1795250001004"), now);
    EXPECT_EQ(time_of_number("1795250001"), now - 4ms) << "whole seconds of other clients";
    for (const auto* none : {"-1.5", "1e300", "\"1\"", "true", "", "999999999999999"})
        EXPECT_FALSE(time_of_number(none)) << none;
    EXPECT_EQ(time_number(now, seconds), "1795250001.004");
    EXPECT_EQ(time_number(TimePoint{7'000ms}, seconds), "7.000");
}

// They were retried although their authors forbade it, or run after their end (issue 39, part 3).
TEST(RedisPayloadTest, retry_and_expiry_are_what_the_sender_says) {
    struct Case {
        std::string members;
        std::optional<int> attempts_max;
        bool refused;
    };
    for (const auto& c : std::vector<Case>{
             {"", {}, false},
             {R"("retry":true)", {}, false},
             {R"("retry":null)", {}, false},
             {R"("retry":"3")", {}, false},
             {R"("retry":false)", 1, false},
             {R"("retry":0)", 1, false},
             {R"("retry":-1)", 1, false},
             {R"("retry":3)", 4, false},
             {R"("retry":99999999999)", 1'000'001, false},
             {R"("retry_for":60)", {}, false},
             {R"("retry_for":60,"retry_count":2,"failed_at":1795249941.1)", {}, false},
             {R"("retry_for":60,"retry_count":2,"failed_at":1795249941.0)", 4, false},
             {R"("expiry":1795250001.005)", {}, false},
             {R"("expiry":1795250001.004)", {}, true},
             {R"("expiry":1795250001)", {}, true},
             {R"("expiry":1795250061)", {}, false},
             {R"("expiry":1795250001003)", {}, true},
             {R"("expiry":null)", {}, false}}) {
        const auto job = taken(
            R"({"class":"C","jid":"j","args":[])" + (c.members.empty() ? "" : "," + c.members) + "}"
        );
        EXPECT_EQ(job.attempts_max, c.attempts_max) << c.members;
        EXPECT_EQ(job.refused.has_value(), c.refused) << c.members;
    }
    EXPECT_THAT(
        with_merge(R"({"class":"C","jid":"j","args":[],"expiry":7.5})", {"ann", now}, seconds),
        Not(HasSubstr("expiry"))
    );
}

// How a job differs from the plain one, in which each row's value replaces its member.
std::string difference(const ClaimedJob& job) {
    if (job.kind.empty() || job.refused) return "a dead letter";
    const auto plain = taken(with_args("[7]"));
    const auto meaning = [](const ClaimedJob& one) {
        return std::tuple{
            one.kind,
            one.attempts_max,
            one.failures,
            one.queue,
            one.raw.created_at,
            one.raw.first_failed_at};
    };
    if (job.raw.args != plain.raw.args) return "other arguments";
    return meaning(job) == meaning(plain) ? "the same" : "another job";
}

constexpr testing::FormatRow members[]{
    {"class",
     "a kind of this service; a name of another one is tried again",
     "a dead letter",
     "null"},
    {"jid", "1 to 255 visible characters of ASCII", "a dead letter", "12345"},
    {"args", "a list of one: its item; another list, or none: itself", "other arguments", "[7,8]"},
    {"retry", "true; false or a number: at most so many retries", "the same", "\"3\""},
    {"retry_for", "seconds since the first failure, then no retry", "the same", "\"60\""},
    {"retry_count", "how often it has failed, less one", "the same", "-1"},
    {"expiry", "a time to come; later it is not run", "a dead letter", "7.5"},
    {"created_at", "seconds, or milliseconds from 1e11 on, until 9999", "the same", "1e300"},
    {"failed_at", "the same; retried_at and enqueued_at, too", "the same", "-1"},
    {"queue", "not read: the list that it is in counts", "the same", "\"another\""},
    {"at", "not read: the score in `schedule` or `retry` counts", "the same", "32503680000"},
    {"dead", "not read: what is not tried again is a dead letter", "the same", "false"},
    {"wrapped", "not read: a job of ActiveJob has its wrapper's class", "the same", "\"Job\""},
    {"encrypt", "not read: arguments that are encrypted do not decode", "the same", "true"},
    {"bid", "not read: a batch of Sidekiq Pro never sees the end of it", "the same", "\"b\""},
    {"unique_for", "not read: the lock of Sidekiq Enterprise ends by itself", "the same", "600"}};

TEST(RedisPayloadTest, the_documented_members_are_read) {
    testing::expect_read_as_documented(members, [](const testing::FormatRow& row) {
        auto job = *json::members_of(with_args("[7]"));
        job.set(row.member, std::string{row.value});
        return difference(taken(job.text()));
    });
    EXPECT_EQ(difference(taken(with_args("[7]"))), "the same");
}

// Ruby cuts texts where it likes; JSON's grammar allows it.
TEST(RedisPayloadTest, half_of_a_surrogate_pair_leaves_a_job_a_job) {
    const auto job = taken(R"({"class":"C","jid":"j","args":["\ud83d"],"error_class":"E",)"
                           R"("error_message":"\udE00 \u0000"})");
    EXPECT_EQ(job.kind, "C");
    EXPECT_EQ(job.raw.args, R"("\ud83d")");
    EXPECT_EQ(job.raw.last_error, (std::string{"E: \xef\xbf\xbd \0", 8}));
}

TEST(RedisPayloadTest, a_failure_has_the_members_that_ruby_writes) {
    auto payload = with_failure(with_args("[]"), "the first", now, seconds);
    EXPECT_THAT(payload, HasSubstr(R"("retry_count":0,"failed_at":1795250001.004)"));
    EXPECT_THAT(payload, HasSubstr(R"("error_message":"the first","error_class":"PawlError")"));
    EXPECT_THAT(payload, Not(HasSubstr("retried_at")));

    payload = with_failure(payload, "the second", now + 1s, seconds);
    const auto job = taken(payload);

    EXPECT_EQ(job.failures, 2);
    EXPECT_EQ(job.raw.first_failed_at, now);
    EXPECT_EQ(job.raw.last_failed_at, now + 1s);
    EXPECT_EQ(job.raw.last_error, "the second");
}

// tests/fuzz/sidekiq.cpp, inputs retried_but_never_failed and failed_at_no_time.
TEST(RedisPayloadTest, the_first_failure_is_also_the_last_whatever_retried_at_says) {
    for (const auto* said : {"", R"("failed_at":"x",)"}) {
        const auto payload =
            R"({"class":"C","jid":"j",)" + std::string{said} + R"("retried_at":1700000000.5})";

        const auto job = taken(with_failure(payload, "no", now, seconds));

        EXPECT_EQ(job.raw.first_failed_at, now) << said;
        EXPECT_EQ(job.raw.last_failed_at, now) << said;
    }
}

TEST(RedisPayloadTest, a_failure_written_by_ruby_names_its_class) {
    const auto job =
        taken(R"({"class":"C","jid":"j","args":[],"retry_count":4,"failed_at":1795250001.004,)"
              R"("error_class":"Net::SMTPFatalError","error_message":"550 no such mailbox"})");

    EXPECT_EQ(job.failures, 5);
    EXPECT_EQ(job.raw.last_error, "Net::SMTPFatalError: 550 no such mailbox");
    EXPECT_EQ(job.raw.last_failed_at, now) << "the first is the last if there is one";
}

TEST(RedisPayloadTest, a_run_alone_is_forgotten_at_its_end_and_deaths_at_a_merge) {
    const auto died = R"({"class":"C","jid":"j","args":[],"pawl_deaths":3})";
    const auto alone = with_alone(died, 3);

    EXPECT_EQ(taken(alone).deaths, 3);
    EXPECT_EQ(taken(alone).deaths_before_alone, 3);
    for (const auto& ended : {without_alone(alone), with_failure(alone, "e", now, seconds)}) {
        EXPECT_EQ(taken(ended).deaths, 3);
        EXPECT_FALSE(taken(ended).deaths_before_alone);
    }
    const auto merged = taken(with_merge(alone, {"ann", now, false}, seconds));
    EXPECT_EQ(merged.deaths, 0);
    EXPECT_FALSE(merged.deaths_before_alone);
    EXPECT_EQ(without_alone(died), died) << "to the byte";
    EXPECT_EQ(with_alone("not json", 3), "not json");
    EXPECT_EQ(taken(R"({"class":"C","jid":"j","pawl_deaths":-1})").deaths, 0);
    EXPECT_EQ(taken(R"({"class":"C","jid":"j","pawl_deaths":"x"})").deaths, 0);
}

TEST(RedisPayloadTest, a_merge_resets_the_tries_and_forgets_a_call_only_if_told) {
    auto payload = with_failure(with_call(with_args("[]"), now, seconds), "e", now, seconds);

    auto merged = taken(with_merge(payload, {"ann", now, false}, seconds));
    EXPECT_EQ(merged.failures, 0);
    EXPECT_EQ(merged.called_at, now);
    EXPECT_EQ(merged.raw.first_failed_at, now);
    EXPECT_EQ(merged.raw.last_error, "e");

    merged = taken(with_merge(payload, {"ann", now, true}, seconds));
    EXPECT_FALSE(merged.called_at);
    EXPECT_THAT(merged.held, HasSubstr(R"("merged_by":"ann")"));
}

TEST(RedisPayloadTest, a_cancellation_is_an_error_of_its_own_kind_and_no_failure) {
    const auto failed = with_failure(with_args("[]"), "e", now, seconds);

    const auto cancelled = with_cancel(failed, {"ann", "no need \xFF", now + 1s});

    const auto letter = letter_of(cancelled, {"", now});
    EXPECT_EQ(letter.failures, 1);
    EXPECT_EQ(letter.last_failed_at, now);
    EXPECT_EQ(letter.error, "cancelled by ann: no need ?");
    EXPECT_EQ(letter.error_kind, "cancelled");
    EXPECT_THAT(letter.history, HasSubstr(R"("cancelled_by":"ann"}])"));
    const auto again = letter_of(with_failure(cancelled, "e 7", now, seconds), {"", now});
    EXPECT_EQ(again.error_kind, "e #") << "after a merge";
    EXPECT_EQ(with_cancel("not json", {"ann", "r", now}), "not json");
}

TEST(RedisPayloadTest, a_listed_job_without_a_time_is_marked) {
    const auto job = listed_job_of(with_args("[]"), "mails");
    EXPECT_EQ(job.id, "j");
    EXPECT_EQ(job.queue, "mails");
    EXPECT_THAT(job.damaged.columns, ::testing::ElementsAre("created_at"));
    EXPECT_EQ(listed_job_of(pushed(staged()), "").damaged.problem, "");
    EXPECT_EQ(listed_job_of(pushed(staged()), "").queue, "mails");
}

TEST(RedisPayloadTest, history_keeps_the_first_and_the_last_twenty_entries) {
    auto payload = with_args("[]");
    for (int i = 1; i <= 40; ++i)
        payload = with_failure(payload, "e" + std::to_string(i), now, seconds);

    const auto history = letter_of(payload, {"", now}).history;

    EXPECT_THAT(history, HasSubstr(R"("e1")"));
    EXPECT_THAT(history, Not(HasSubstr(R"("e20")")));
    EXPECT_THAT(history, HasSubstr(R"("e21")"));
    EXPECT_THAT(history, HasSubstr(R"("e40")"));
}

TEST(RedisPayloadTest, a_payload_that_is_not_a_job_stays_unchanged) {
    for (const std::string text :
         {"not json",
          "\xFF\x00",
          "[1]",
          R"({"class":"C"})",
          R"({"jid":"j","queue":"mails"})",
          R"({"class":7,"jid":"j"})",
          R"({"class":"C","jid":"a\u0000b"})",  // PostgreSQL's inbox refused the NUL.
          R"({"class":"C","jid":"a b"})",
          ""}) {
        const auto job = taken(text);
        EXPECT_EQ(job.kind, "") << text;
        EXPECT_EQ(job.raw.args, text);
        EXPECT_EQ(job.raw.jid.size(), 24) << text;
        EXPECT_EQ(job.held, text);
        EXPECT_EQ(with_failure(text, "e", now, seconds), text);
        EXPECT_EQ(with_call(text, now, seconds), text);
        EXPECT_EQ(with_queue(text, "q"), text);
        EXPECT_EQ(with_merge(text, {"ann", now, true}, seconds), text);
        EXPECT_EQ(letter_of(text, {"", now}).args, text);
    }
    EXPECT_NE(taken("a").raw.jid, taken("b").raw.jid);
    EXPECT_EQ(letter_of("a", {"", now}).queue, "default");
    EXPECT_EQ(letter_of(R"({"jid":"j","queue":"mails"})", {"", now}).queue, "mails");
}

TEST(RedisPayloadTest, a_job_comes_back_to_the_queue_it_was_taken_from) {
    EXPECT_EQ(
        with_queue(R"({"class":"C","jid":"j","queue":"a"})", "b"),
        R"({"class":"C","jid":"j","queue":"b"})"
    );
    EXPECT_THAT(with_queue(with_args("[]"), "b"), HasSubstr(R"("queue":"b")"));
    const std::string there = R"({ "class":"C", "jid":"j", "queue":"b" })";
    EXPECT_EQ(with_queue(there, "b"), there) << "byte for byte";
}

TEST(RedisPayloadTest, pawl_args_text_is_ignored_if_args_is_not_one_text) {
    const auto job = taken(R"({"class":"C","jid":"j","args":[7],"pawl_args_text":true})");

    EXPECT_EQ(job.raw.args, "7");
}

TEST(RedisPayloadTest, a_negative_retry_count_is_no_failure) {
    EXPECT_EQ(taken(R"({"class":"C","jid":"j","args":[],"retry_count":-1})").failures, 0);
}

TEST(RedisPayloadTest, members_of_a_wrong_type_are_ignored) {
    const auto job =
        taken(R"({"class":"C","jid":"j","args":[],"retry_count":"many","failed_at":"soon",)"
              R"("pawl_key":1.5,"pawl_called_at":null,"error_message":7,"pawl_history":3})");

    EXPECT_EQ(job.failures, 0);
    EXPECT_FALSE(job.raw.first_failed_at || job.raw.key_id || job.called_at || job.raw.last_error);
    EXPECT_THAT(with_failure(job.held, "e", now, seconds), HasSubstr(R"("pawl_history":[{)"));
}

}  // namespace
}  // namespace pawl::queue::sidekiq
