#include "src/cli/doctor/findings.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace pawl::cli {
namespace {

std::string printed(const Findings& findings, bool json, bool verbose) {
    std::ostringstream out;
    findings.print(out, json, verbose);
    return out.str();
}

TEST(FindingsTest, the_exit_code_is_that_of_the_worst_finding) {
    Findings findings;
    findings.begin("disk");
    findings.ok("room");
    EXPECT_EQ(findings.exit_code(), 0);
    findings.note({.found = "a note"});
    EXPECT_EQ(findings.exit_code(), 0);
    findings.fail({.found = "an error"});
    EXPECT_EQ(findings.exit_code(), 3);
    findings.warn({.found = "a warning"});
    EXPECT_EQ(findings.exit_code(), 3);

    Findings others;
    others.warn({.found = "a warning"});
    EXPECT_EQ(others.exit_code(), 1);
}

TEST(FindingsTest, a_finding_has_its_check_what_to_do_and_the_page) {
    Findings findings;
    findings.begin("open_points");
    findings.fail({.found = "2 keys", .to_do = "Deploy it.", .code = "PAWL0007", .ids = {17, 18}});

    EXPECT_EQ(
        printed(findings, false, false),
        "error    open_points   2 keys\n"
        "                       ids: 17 18\n"
        "                       Deploy it.\n"
        "                       docs/errors/PAWL0007.md\n"
        "1 errors, 0 warnings, 0 notes, 0 in order\n"
    );
    EXPECT_EQ(
        printed(findings, true, false),
        R"({"worst":"error","findings":[{"check":"open_points","severity":"error","found":"2 keys",)"
        R"("to_do":"Deploy it.","code":"PAWL0007","page":"docs/errors/PAWL0007.md","ids":[17,18]}]})"
        "\n"
    );
}

TEST(FindingsTest, what_is_in_order_is_shown_on_request) {
    Findings findings;
    findings.begin("disk");
    findings.ok("there is room");

    EXPECT_EQ(printed(findings, false, false), "0 errors, 0 warnings, 0 notes, 1 in order\n");
    EXPECT_NE(
        printed(findings, false, true).find("ok       disk          there is room"),
        std::string::npos
    );
    EXPECT_EQ(printed(findings, true, false), "{\"worst\":\"ok\",\"findings\":[]}\n");
}

}  // namespace
}  // namespace pawl::cli
