#include "apps/rides/riders.hpp"

#include "apps/rides/receipt.hpp"
#include "apps/rides/serve.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace rides {
namespace {

// The error that reading a tokens file throws.
std::string problem_of(const std::string& text, std::size_t token_min = 1) {
    const auto path = ::testing::TempDir() + "tokens_" + std::to_string(::getpid());
    std::ofstream{path, std::ios::binary} << text;
    std::string problem;
    try {
        Riders{}.add_file(path, token_min);
    } catch (const std::invalid_argument& why) {
        problem = why.what();
        const auto at = problem.find(path);
        if (at != problem.npos) problem.replace(at, path.size(), "FILE");
    }
    std::filesystem::remove(path);
    return problem;
}

// A file saved by an editor on Windows gave each rider an address with CR, which then was in the
// header of a mail (issue 16, number 10).
TEST(TokensFile, errors_name_the_line_but_not_the_token) {
    struct Case {
        std::string text;
        std::string problem;
    };
    const auto form = std::string{"is not \"token email [support] [cus_...]\""};
    const std::vector<Case> cases{
        {"token_jane jane@example.com\n# a comment\n\ntoken_joe joe@example.com support\n", ""},
        {"token_jane jane@example.com cus_Nff1\ntoken_joe joe@example.com support cus_Nff2\n", ""},
        {"token_jane jane@example.com cus_Nff1\nother_jane jane@example.com cus_Nff1\n", ""},
        {"token_jane jane@example.com cus_Nff1\nother_jane jane@example.com cus_Nff2\n",
         "line 2 of the tokens file FILE has another customer than an earlier line of the rider"},
        {"token_jane jane@example.com cus_Nff1\ntoken_joe joe@example.com cus_Nff1\n",
         "line 2 of the tokens file FILE has another rider's customer"},
        {"token_jane jane@example.com cus_\n", "line 1 of the tokens file FILE " + form},
        {"token_jane jane@example.com cus_Nff1 support\n",
         "line 1 of the tokens file FILE " + form},
        {"token_jane jane@example.com\r\n",
         "line 1 of the tokens file FILE ends with CR and LF: save it with LF only"},
        {"# a comment\n\ntoken_jane\n", "line 3 of the tokens file FILE " + form},
        {"token_jane jane@example.com supporter\n", "line 1 of the tokens file FILE " + form},
        {" jane@example.com\n", "line 1 of the tokens file FILE " + form},
        {"token_jane jane\n", "line 1 of the tokens file FILE has a malformed e-mail address"},
        {"token_jane @example.com\n",
         "line 1 of the tokens file FILE has a malformed e-mail address"},
        {"token_jane jane@\n", "line 1 of the tokens file FILE has a malformed e-mail address"},
        {"token_jane jane@exam\tple.com\n",
         "line 1 of the tokens file FILE has a malformed e-mail address"},
        {"token_jane <jane@example.com>\n",
         "line 1 of the tokens file FILE has a malformed e-mail address"},
        {"token_jane jane@b@example.com\n",
         "line 1 of the tokens file FILE has a malformed e-mail address"},
    };
    for (const auto& c : cases) EXPECT_EQ(problem_of(c.text), c.problem) << c.text;
}

TEST(TokensFile, a_customer_belongs_to_every_token_of_its_rider) {
    Riders riders;
    riders.add("token_jane jane@example.com cus_Nff1");
    riders.add("other_jane jane@example.com");
    riders.add("token_joe joe@example.com support");
    riders.add_test_rider("token_ann ann@example.com elsewhere cus_Nff3");

    std::map<std::string, std::string> customers;
    for (const auto& account : riders.accounts()) {
        const auto& kept = customers.try_emplace(account.email, account.customer.value_or("none"));
        EXPECT_EQ(kept.first->second, account.customer.value_or("none"));
    }

    const std::map<std::string, std::string> expected{
        {"ann@example.com", "cus_Nff3"},
        {"jane@example.com", "cus_Nff1"},
        {"joe@example.com", "none"}};
    EXPECT_EQ(customers, expected);
    EXPECT_EQ(riders.find_token("token_ann")->tenant, "elsewhere");
}

TEST(TokensFile, short_tokens_are_refused_if_other_machines_can_reach_the_server) {
    const std::string file = "0123456789abcdef jane@example.com\n0123456789abcde joe@example.com\n";

    EXPECT_EQ(problem_of(file), "");
    EXPECT_EQ(
        problem_of(file, Riders::token_min),
        "line 2 of the tokens file FILE has a token of 15 characters: at least 16 beyond loopback "
        "(openssl rand -hex 16 makes one)"
    );
}

// Issue 16, number 10: receipts were sent unencrypted wherever STARTTLS was not offered.
TEST(MailServer, another_host_needs_tls_unless_the_url_says_otherwise) {
    EXPECT_FALSE(mail_server("smtp://127.0.0.1:12525").tls_required);
    EXPECT_FALSE(mail_server("smtp://localhost").tls_required);
    EXPECT_FALSE(mail_server("smtp://[::1]:25").tls_required);
    EXPECT_TRUE(mail_server("smtp://mail.example.com").tls_required);
    EXPECT_TRUE(mail_server("smtp://127.example.com").tls_required);
    EXPECT_TRUE(mail_server("smtps://mail.example.com").tls_required);
    const auto clear = mail_server("smtp://mail.example.com:25?tls=off");
    EXPECT_FALSE(clear.tls_required);
    EXPECT_EQ(clear.url, "smtp://mail.example.com:25");
}

TEST(ServeOptions, unencrypted_connections_need_an_explicit_option) {
    const auto problem = [](const std::string& stripe, bool plain, const std::string& smtp) {
        ServeOptions options;
        options.stripe_url = stripe;
        options.stripe_api_key = "sk_test_1";
        options.stripe_plain_http = plain;
        options.smtp_url = smtp;
        return options.problem().value_or("");
    };
    const std::string smtp = "smtp://127.0.0.1:25";

    EXPECT_EQ(problem("https://api.stripe.com", false, smtp), "");
    EXPECT_EQ(problem("http://127.0.0.1:12111", false, smtp), "");
    EXPECT_NE(problem("http://stripe.internal", false, smtp), "");
    EXPECT_NE(problem("http://127.0.0.1@evil.example", false, smtp), "");
    EXPECT_EQ(problem("http://stripe.internal", true, smtp), "");
    EXPECT_EQ(problem("https://api.stripe.com", false, "smtp://mail.example.com?tls=off"), "");
    EXPECT_NE(problem("https://api.stripe.com", false, "smtp://mail.example.com?tls=on"), "");
    EXPECT_NE(problem("https://api.stripe.com", false, "smtps://mail.example.com?tls=off"), "");
    EXPECT_NE(problem("https://api.stripe.com", false, "smtp://?tls=off"), "");
}

// The stand-in's API key would get 401 there, ride by ride.
TEST(ServeOptions, another_host_needs_an_api_key_of_its_own) {
    ServeOptions options;
    options.stripe_url = "https://api.stripe.com";

    EXPECT_NE(options.problem().value_or("").find("STRIPE_API_KEY is not set"), std::string::npos);
    options.stripe_api_key = "sk_test_1";
    EXPECT_EQ(options.problem(), std::nullopt);
    options.stripe_api_key = "sk_test_1\n";
    EXPECT_NE(options.problem(), std::nullopt);
    options.stripe_api_key = "sk_test_1";
    options.stripe_source = "tok_visa tok_visa";
    EXPECT_NE(options.problem(), std::nullopt);
}

}  // namespace
}  // namespace rides
