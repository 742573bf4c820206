#include "apps/payouts/sent_file.hpp"

#include "apps/payouts/testing_decisions.hpp"

#include <stdexcept>
#include <utility>

namespace payouts::decisions_test {

namespace {

struct SentFileCase {
    std::string name;
    std::string file;
    std::function<std::string(std::string)> change;
    std::string wrong;  // A part of the text.
};
class SentFileTest : public DecisionsTest, public ::testing::WithParamInterface<SentFileCase> {
public:
    static std::string with(std::string text, const std::string& part, const std::string& by) {
        return text.replace(text.find(part), part.size(), by);
    }
    static std::vector<SentFileCase> rows() {
        const auto same = [](std::string text) { return text; };
        const auto named = [](const std::string& part, const std::string& by) {
            return [part, by](std::string text) { return with(std::move(text), part, by); };
        };
        const std::string one{"payouts-00000001.xml"};
        return {
            {"name", "file.xml", same, "is named as payouts-00000042.xml"},
            {"short_number", "payouts-1.xml", same, "is named as"},
            {"nacha", "payouts-00000001.ach", same, "is named as"},
            {"other_number", "payouts-00000077.xml", same, "its bytes are not"},
            {"last_number", "payouts-99999999.xml", same, "is named as"},
            {"huge_number", "payouts-9223372036854775807.xml", same, "is named as"},
            {"empty", one, [](const auto&) { return ""; }, "not the file that was sent"},
            {"half", one, [](std::string text) { return text.substr(0, text.size() / 2); }, ""},
            {"cut", one, [](std::string text) { return text.substr(0, text.size() - 1); }, "bytes"},
            {"tail", one, [](const std::string& text) { return text + "<junk"; }, "its bytes"},
            {"twice", one, [](const std::string& text) { return text + text; }, ""},
            {"line_ends", one, named("\n", "\r\n"), "its bytes"},
            {"doctype", one, named("<Document", "<!DOCTYPE x []><Document"), "its bytes"},
            {"amount", one, named(">10.00<", ">10.01<"), "its bytes"},
            {"currency", one, named("\"EUR\"", "\"USD\""), "amount"},
            {"account", one, named("DE89370400440532013000", "DE02120300000000202051"), "bytes"},
            {"duplicate", one, named(">B<", ">A<"), "A stands in it twice"}};
    }
};
TEST_P(SentFileTest, is_refused) {
    const auto bytes = sent(1, {"A", "B"}).bytes;
    try {
        read_sent_file(format, GetParam().file, GetParam().change(bytes));
        ADD_FAILURE() << "it is taken";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string{error.what()}.find(GetParam().wrong), std::string::npos)
            << error.what();
    }
}
INSTANTIATE_TEST_SUITE_P(
    Each,
    SentFileTest,
    ::testing::ValuesIn(SentFileTest::rows()),
    [](const auto& row) { return row.param.name; }
);

TEST_F(DecisionsTest, a_sent_file_with_texts_of_xml_is_read_back) {
    auto settings = DecisionsTest::settings();
    settings.iso20022->debtor_name = "R & \"Rides\" <AG>";
    settings.iso20022->debtor_bic = "COBADEFFXXX";
    settings.iso20022->characters = "xml";
    const BankFormat xml{settings};
    const Payment payment{
        .end_to_end_id = "A",
        .amount = 1'234,
        .currency = "EUR",
        .creditor_name = "J\xc3\xb6 & <O'Hara> \"x\" &lt;",
        .creditor_account = "GB29NWBK60161331926819",
        .routing_number = {},
        .reference = "a > b"};

    const auto bytes = xml.write({.number = 3, .number_of_day = 1}, {&payment, 1});

    EXPECT_EQ(read_sent_file(xml, "payouts-00000003.xml", bytes).payouts[0].amount, 1'234);
}

TEST(SentFile, one_of_nacha_is_read_back) {
    Settings settings;
    settings.nacha = Settings::Nacha{
        .destination = "091000019",
        .destination_name = "The bank",
        .origin = "1234567890",
        .origin_name = "Rocket Rides",
        .company_name = "Rocket Rides",
        .company_id = "1234567890",
        .description = "PAYOUT",
        .transliterate = {}};
    const BankFormat format{settings};
    const Payment payment{
        .end_to_end_id = "0123456789ABCD",
        .amount = 1'234,
        .currency = "USD",
        .creditor_name = "Jane O'Hara",
        .creditor_account = "1",
        .routing_number = "021000021",
        .reference = ""};

    std::vector payments(11, payment);
    for (std::size_t i = 0; i < payments.size(); ++i) payments[i].end_to_end_id += 'A' + char(i);
    const pawl::TimePoint at{std::chrono::hours{500'000}};

    const auto file = read_sent_file(
        format,
        "/tmp/payouts-00000042.ach",
        format.write({.number = 42, .number_of_day = 3, .created_at = at}, payments)
    );

    EXPECT_EQ(file.number, 42);
    EXPECT_EQ(file.amount, 11 * 1'234);
    ASSERT_EQ(file.payouts.size(), 11U);
    EXPECT_EQ(file.payouts[10].end_to_end_id, "0123456789ABCDK");
    EXPECT_EQ(file.payouts[10].amount, 1'234);
}

}  // namespace

}  // namespace payouts::decisions_test
