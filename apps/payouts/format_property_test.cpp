#include "apps/payouts/bank_format.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace payouts::format_property_test {

namespace {

Settings any_settings() {
    Settings settings;
    settings.payouts_max = 20;
    if (*rc::gen::arbitrary<bool>())
        settings.nacha = Settings::Nacha{
            .destination = "091000019",
            .destination_name = "The bank",
            .origin = "1234567890",
            .origin_name = "Rocket Rides",
            .company_name = "Rocket Rides",
            .company_id = "1234567890",
            .description = "PAYOUT",
            .transliterate = *rc::gen::arbitrary<bool>()};
    else
        settings.iso20022 = Settings::Iso20022{
            .debtor_name = "Rocket Rides",
            .debtor_account = "DE89370400440532013000",
            .debtor_bic = {},
            .currency = "EUR",
            .characters = *rc::gen::element<std::string>("epc217", "xml"),
            .transliterate = *rc::gen::arbitrary<bool>()};
    return settings;
}

std::string any_text() {
    const std::vector<std::string> parts{
        "Jane", " ", "é", "ß", "Щ", "李", "\uffff", "\x01", "&", "<", "/", "0123456789", "'", "."};
    std::string text;
    for (const auto i : *rc::gen::container<std::vector<std::size_t>>(
             rc::gen::inRange<std::size_t>(0, parts.size())
         ))
        text += parts[i];
    return text;
}

// The cut-off takes any of the payouts that were accepted, each by itself, into one file.
RC_GTEST_PROP(BankFormatLaw, payouts_that_are_accepted_make_one_file, ()) {
    const BankFormat format{any_settings()};
    const bool nacha = format.currency() == "USD";
    std::vector<Payment> accepted;
    for (int i = 0; i < 20; ++i) {
        const Payment payment{
            .end_to_end_id = "0123456789ABCDE",
            .amount = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000),
            .currency = format.currency(),
            .creditor_name = *rc::gen::inRange(0, 3) == 0 ? any_text() : "Jane Doe",
            .creditor_account = nacha ? "123" : "GB29NWBK60161331926819",
            .routing_number = nacha ? std::optional<std::string>{"021000021"} : std::nullopt,
            .reference = *rc::gen::inRange(0, 3) == 0 ? any_text() : ""};
        if (!format.problem(payment)) accepted.push_back(format.as_sent(payment));
    }
    RC_PRE(!accepted.empty());

    RC_ASSERT(!format.write({.number = 1, .number_of_day = 1}, accepted).empty());
    for (const auto& payment : accepted) RC_ASSERT(!format.problem(payment));
}

}  // namespace

}  // namespace payouts::format_property_test
