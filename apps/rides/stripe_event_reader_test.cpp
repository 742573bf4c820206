#include "apps/rides/stripe_event_reader.hpp"

#include "tests/format_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rides::stripe_event_reader_test {
namespace {

constexpr std::string_view head = R"("id":"evt_1","object":"event","type":"charge.succeeded")";
constexpr std::string_view charge =
    R"("id":"ch_1","object":"charge","amount":2000,"amount_refunded":0,"currency":"usd")";

// Of duplicate names a case's own member would count twice, so it replaces the usual one.
std::string event(const std::string& members, const std::string& of_charge = "") {
    std::string text{"{"};
    text.append(head).append(members).append(R"(,"data":{"object":{)");
    return text.append(charge).append(of_charge).append("}}}");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    return at == text.npos ? "not found" : text.replace(at, from.size(), to);
}

// What becomes of it: "event", "ignored", "ignored: why" or "refused: why".
std::string end_of(const std::string& body, const StripeIdentity& ours = {.livemode = false}) {
    const auto read = read_event(body, ours);
    if (const auto* refused = std::get_if<RefusedEvent>(&read))
        return "refused: " + std::string{refused->why};
    if (const auto* ignored = std::get_if<IgnoredEvent>(&read))
        return ignored->why.empty() ? "ignored" : "ignored: " + ignored->why;
    return "event";
}

StripeEvent read(const std::string& body) {
    const auto found = read_event(body, {.livemode = false});
    const auto* event = std::get_if<StripeEvent>(&found);
    return event != nullptr ? *event : StripeEvent{.id = end_of(body)};
}

// Issue 39, part 4.
TEST(StripeEvents, each_form_of_a_member_is_the_same_event) {
    const auto plain = pawl::to_json(read(event(R"(,"created":1732000000)")));
    const auto deep = std::string(200, '[') + std::string(200, ']');
    for (const auto& members : std::vector<std::string>{
             R"(,"request":null)",
             R"(,"request":"req_abc","api_version":"2015-04-07")",
             R"(,"request":{"id":"req_1","idempotency_key":null})",
             R"(,"request":{"id":null})",
             R"(,"request":7)",
             R"(,"livemode":false)",
             R"(,"account":null)",
             R"(,"pending_webhooks":123456789012345678901234567890)",
             R"(,"other":{"k":"v","k":"w"})",
             R"(,"other":)" + deep})
        EXPECT_EQ(pawl::to_json(read(event(R"(,"created":1732000000)" + members))), plain)
            << members;
    EXPECT_EQ(pawl::to_json(read(event(R"(,"created":1732000000.5)"))), plain);
    for (const auto& members : std::vector<std::string>{
             R"(,"metadata":{"k":"v","k":"w"})",
             R"(,"fraud_details":{"score":0.12345678901234567})",
             R"(,"customer":null,"description":null)",
             R"(,"status":"succeeded","paid":true,"captured":true,"refunded":false)",
             R"(,"amount_captured":2000,"livemode":false)",
             R"(,"note":"\ud83d")"})
        EXPECT_EQ(pawl::to_json(read(event(R"(,"created":1732000000)", members))), plain)
            << members;
    EXPECT_EQ(
        pawl::to_json(read(replaced(event(R"(,"created":1732000000)"), "2000,", "2.0e3,"))), plain
    );
}

TEST(StripeEvents, a_time_that_no_database_holds_is_none) {
    EXPECT_EQ(
        read(event(R"(,"created":1732000000)")).created,
        pawl::TimePoint{std::chrono::seconds{1'732'000'000}}
    );
    for (const auto* created :
         {"1732000000000",
          "9999999999999",
          "253402300800",
          "100000000000000000",
          "123456789012345678901234567890",
          "1e300",
          "-1",
          "\"2024-09-17T06:20:52.246Z\"",
          "null"}) {
        const auto found = read(event(std::string{",\"created\":"} + created));
        EXPECT_EQ(found.id, "evt_1") << created;
        EXPECT_FALSE(found.created) << created;
    }
    EXPECT_TRUE(read(event(R"(,"created":253402300799)")).created);
}

TEST(StripeEvents, texts_are_those_that_a_column_holds) {
    const auto found = read(event(
        R"(,"request":{"idempotency_key":"a\u0000b"})",
        R"(,"description":"Rocket ride, request a\u0000b","customer":{"id":"cus_1","email":"j"})"
    ));

    EXPECT_EQ(found.charge.description, "Rocket ride, request a?b");
    EXPECT_EQ(found.charge.customer, "cus_1");
    EXPECT_EQ(found.call_key, "a?b");
    for (const auto& id : {std::string(256, 'y'), std::string{"a b"}, std::string{"\u00e9"}})
        EXPECT_EQ(end_of(replaced(event(""), "evt_1", id)), "refused: its id is none of Stripe's");
    EXPECT_EQ(end_of(replaced(event(""), "evt_1", std::string(255, 'y'))), "event");
}

TEST(StripeEvents, a_member_that_turns_the_meaning_is_no_payment) {
    for (const auto& [member, why] : std::vector<std::pair<std::string, std::string>>{
             {R"(,"status":"pending")", "status is pending"},
             {R"(,"status":"failed")", "status is failed"},
             {R"(,"paid":false)", "paid is false"},
             {R"(,"captured":false)", "captured is false"},
             {R"(,"amount_captured":1)", "amount_captured is not amount"},
             {R"(,"refunded":true)", "refunded contradicts amount_refunded"},
             {R"(,"livemode":true)", "the charge's livemode is not the API key's"}})
        EXPECT_EQ(end_of(event("", member)), "ignored: " + why);
    EXPECT_EQ(
        end_of(replaced(event(""), R"("charge",)", R"("refund",)")), "ignored: object is refund"
    );
    auto refund = replaced(event(""), charge_succeeded, charge_refunded);
    EXPECT_EQ(end_of(refund), "event");
    EXPECT_EQ(
        end_of(replaced(refund, R"("usd")", R"("usd","refunded":true)")),
        "ignored: refunded contradicts amount_refunded"
    );
    refund = replaced(refund, R"("amount_refunded":0)", R"("amount_refunded":2000)");
    EXPECT_EQ(end_of(replaced(refund, R"("usd")", R"("usd","refunded":true)")), "event");
    EXPECT_EQ(
        end_of(replaced(refund, R"("usd")", R"("usd","refunded":false)")),
        "ignored: refunded contradicts amount_refunded"
    );
}

TEST(StripeEvents, amounts_that_no_charge_has_are_refused) {
    for (const auto* amounts :
         {R"("amount":-5,"amount_refunded":0)",
          R"("amount":0,"amount_refunded":0)",
          R"("amount":2000,"amount_refunded":-1)",
          R"("amount":2000,"amount_refunded":2001)"})
        EXPECT_EQ(
            end_of(replaced(event(""), R"("amount":2000,"amount_refunded":0)", amounts)),
            "refused: its amounts are none of a charge"
        ) << amounts;
    for (const auto* amount : {"2000.5", "\"2000\"", "null", "123456789012345678901234567890"})
        EXPECT_EQ(end_of(replaced(event(""), "2000", amount)), "refused: not an event of a charge")
            << amount;
}

TEST(StripeEvents, another_account_or_mode_is_not_ours) {
    const auto live = event(R"(,"livemode":true)");
    const auto test = event(R"(,"livemode":false)");
    const auto connected = event(R"(,"account":"acct_other")");
    constexpr auto of_mode = "ignored: livemode is not the API key's";
    constexpr auto of_account = "ignored: account is another one";
    const struct {
        const char* name;
        std::string body;
        StripeIdentity ours;
        const char* end;
    } cases[]{
        {"a live event", live, {.livemode = false}, of_mode},
        {"a live event, a live secret key", live, identity_of("sk_live_1", ""), "event"},
        {"a live event, a live restricted key", live, identity_of("rk_live_1", ""), "event"},
        {"a live event, a key without a mode", live, identity_of("another key", ""), "event"},
        {"a test event, a live secret key", test, identity_of("sk_live_1", ""), of_mode},
        {"a test event, a test restricted key", test, identity_of("rk_test_1", ""), "event"},
        {"a mode that is a text",
         event(R"(,"livemode":"no")"),
         {.livemode = false},
         "ignored: livemode is neither true nor false"},
        {"an account, and none is ours", connected, {.livemode = false}, of_account},
        {"an account, and another is ours", connected, {.account = "acct_1"}, of_account},
        {"our account", connected, {.account = "acct_other"}, "event"},
        {"no account, and one is ours", event(""), {.account = "acct_1"}, "event"}};
    for (const auto& c : cases) EXPECT_EQ(end_of(c.body, c.ours), c.end) << c.name;
}

// A value is a text to replace in event(), what replaces it, and what then becomes of it.
constexpr pawl::testing::FormatRow members[]{
    {"type",
     "charge.succeeded, charge.refunded; of a refund that failed as below",
     "ignored",
     "charge.succeeded>charge.x>ignored"},
    {"id", "1 to 255 visible characters of ASCII", "refused", "evt_1>evt 1>refused"},
    {"livemode",
     "that of the API key; either, if the key does not say it",
     "ignored",
     R"("type">"livemode":true,"type">ignored)"},
    {"account",
     "none, or `--stripe-account`",
     "ignored",
     R"("type">"account":"acct_2","type">ignored)"},
    {"created",
     "seconds of the years 1970 to 9999, also with a fraction",
     "as if it had come now",
     R"("type">"created":1e15,"type">event)"},
    {"request",
     "an object with `idempotency_key`; a text or null: no key",
     "no key",
     R"("type">"request":[],"type">event)"},
    {"object.object", "charge", "ignored", R"("charge",>"refund",>ignored)"},
    {"object.status", "succeeded", "ignored", R"("usd">"usd","status":"pending">ignored)"},
    {"object.paid", "true", "ignored", R"("usd">"usd","paid":false>ignored)"},
    {"object.captured",
     "true; a hold is not captured",
     "ignored",
     R"("usd">"usd","captured":false>ignored)"},
    {"object.amount_captured",
     "the amount",
     "ignored",
     R"("usd">"usd","amount_captured":1>ignored)"},
    {"object.refunded",
     "true exactly if all of it is refunded",
     "ignored",
     R"("usd">"usd","refunded":true>ignored)"},
    {"object.livemode", "that of the API key", "ignored", R"("usd">"usd","livemode":true>ignored)"},
    {"object.amount", "over 0", "refused", "2000>0>refused"},
    {"object.amount_refunded",
     "0 to the amount; all of it: the ride is refunded",
     "refused",
     R"("amount_refunded":0>"amount_refunded":2001>refused)"},
    {"object.customer",
     "an id, an object with an id, null",
     "settles no doubt",
     R"("usd">"usd","customer":7>event)"},
    {"object.description",
     "a text or null; U+0000 becomes ?",
     "refused",
     R"("usd">"usd","description":7>refused)"}};

TEST(StripeEvents, the_documented_members_are_read) {
    EXPECT_EQ(pawl::testing::missing_rows(members), "");
    for (const auto& row : members) {
        const auto first = row.value.find('>');
        const auto last = row.value.rfind('>');
        const auto body = replaced(
            event(""), row.value.substr(0, first), row.value.substr(first + 1, last - first - 1)
        );
        EXPECT_EQ(end_of(body).find(row.value.substr(last + 1)), 0U)
            << row.member << " " << body << ": " << end_of(body);
    }
}

// Issue 38.
TEST(StripeEvents, a_refund_that_failed_is_an_event) {
    const auto refund = [](std::string_view type, const std::string& of_refund) {
        return R"({"id":"evt_1","type":")" + std::string{type} +
               R"(","data":{"object":{"id":"re_1","amount":500,"currency":"usd")" + of_refund +
               "}}}";
    };
    const std::string failed =
        R"(,"object":"refund","charge":"ch_1","status":"failed","failure_reason":"lost_or_stolen_card")";

    for (const auto type : {refund_failed, refund_updated, charge_refund_updated}) {
        const auto event = read(refund(type, failed));
        EXPECT_EQ(event.charge.id + ' ' + std::to_string(event.charge.amount), "ch_1 500") << type;
        EXPECT_EQ(
            event.charge.description, "the refund re_1 of 500 usd has failed: lost_or_stolen_card"
        ) << type;
        EXPECT_EQ(end_of(refund(type, R"(,"status":"canceled")")), "event") << type;
    }
    EXPECT_EQ(
        read(refund(refund_failed, "")).charge.description,
        "the refund re_1 of 500 usd has failed: no reason given"
    );
    EXPECT_EQ(read(refund(refund_failed, R"(,"charge":null)")).charge.id, "");
    EXPECT_EQ(
        end_of(refund(refund_failed, R"(,"status":"pending")")), "ignored: status is pending"
    );
    for (const auto* status : {R"(,"status":"succeeded")", R"(,"status":null)", ""})
        EXPECT_EQ(end_of(refund(refund_updated, status)), "ignored") << status;
    EXPECT_EQ(end_of(refund(refund_failed, R"(,"object":"charge")")), "ignored: object is charge");
    EXPECT_EQ(
        end_of(replaced(refund(refund_failed, failed), "500", "0")),
        "refused: its amount is none of a refund"
    );
    EXPECT_EQ(
        end_of(replaced(refund(refund_failed, failed), "500", "\"5\"")),
        "refused: not an event of a refund"
    );
    EXPECT_EQ(
        end_of(replaced(refund(refund_failed, failed), R"("type")", R"("livemode":true,"type")")),
        "ignored: livemode is not the API key's"
    );
}

TEST(StripeEvents, other_types_are_ignored_and_nonsense_is_refused) {
    EXPECT_EQ(end_of(replaced(event(""), charge_succeeded, "charge.failed")), "ignored");
    EXPECT_EQ(
        end_of(R"({"id":"evt_test_1","object":"v2.core.event","type":"v1.billing.x",)"
               R"("created":"2024-09-17T06:20:52.246Z","related_object":{"id":"mtr_1"}})"),
        "ignored"
    );
    for (const auto* body : {"", "[]", "{}", "{", R"({"id":7,"type":"charge.succeeded"})"})
        EXPECT_EQ(end_of(body), "refused: not an event") << body;
}

}  // namespace
}  // namespace rides::stripe_event_reader_test
