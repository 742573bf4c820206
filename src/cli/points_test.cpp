#include "src/cli/points.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

// An operation with one point that has these properties, of which those are required.
std::string operation(
    const std::string& properties,
    const std::string& required,
    const std::string& point = "paid",
    const std::string& names = R"("renamed":{},"removed":[])"
) {
    return R"({"jobs":{},"operations":{"pay":{"request":{"type":"object","properties":{},"required":[]},"points":{")" +
           point + R"(":{"results":{},"fields":{"type":"object","properties":{)" + properties +
           R"(},"required":[)" + required + R"(]}}},)" + names + "}}}";
}

std::vector<std::string> broken(const std::string& released, const std::string& now) {
    return broken_points(boost::json::parse(released), boost::json::parse(now));
}

using Texts = std::vector<std::string>;
const std::string id_field = R"("id":{"type":"integer","minimum":0,"maximum":9})";

TEST(PointsTest, the_same_and_an_added_optional_field_are_read) {
    const auto released = operation(id_field, R"("id")");
    EXPECT_EQ(broken(released, released), Texts{});
    EXPECT_EQ(
        broken(released, operation(id_field + R"(,"note":{"type":"string"})", R"("id")")), Texts{}
    );
    EXPECT_EQ(broken(released, operation(id_field, "")), Texts{});
}

TEST(PointsTest, a_field_that_is_gone_or_new_and_required_or_of_another_type_breaks) {
    const auto released = operation(id_field, R"("id")");
    EXPECT_EQ(broken(released, operation("", "")), Texts{"pay, paid id: the field is gone"});
    EXPECT_EQ(
        broken(released, operation(R"("id":{"type":"string"})", R"("id")")),
        Texts{"pay, paid id: has another type"}
    );
    EXPECT_EQ(
        broken(released, operation(id_field + R"(,"to":{"type":"string"})", R"("id","to")")),
        Texts{"pay, paid to: must be there, and old rows may not have it: make it a std::optional"}
    );
    EXPECT_EQ(
        broken(
            released, operation(R"("id":{"type":"integer","minimum":0,"maximum":8})", R"("id")")
        ),
        Texts{"pay, paid id: has a smaller range"}
    );
}

TEST(PointsTest, a_point_may_be_renamed_or_removed_but_not_be_gone) {
    const auto released = operation(id_field, "");
    EXPECT_EQ(
        broken(released, operation(id_field, "", "sent")),
        Texts{"pay, paid: the point is gone: declare it in RenamedPoints, as Renamed or Removed"}
    );
    EXPECT_EQ(
        broken(
            released, operation(id_field, "", "sent", R"("renamed":{"paid":"sent"},"removed":[])")
        ),
        Texts{}
    );
    EXPECT_EQ(
        broken(released, operation(id_field, "", "sent", R"("renamed":{},"removed":["paid"])")),
        Texts{}
    );
    EXPECT_EQ(
        broken(released, operation("", "", "sent", R"("renamed":{"paid":"sent"},"removed":[])")),
        Texts{"pay, paid id: the field is gone"}
    );
}

TEST(PointsTest, a_word_or_an_alternative_that_is_gone_breaks) {
    const auto words = [](const std::string& list) {
        return operation(R"("state":{"type":"string","enum":[)" + list + "]}", "");
    };
    EXPECT_EQ(broken(words(R"("a")"), words(R"("a","b")")), Texts{});
    EXPECT_EQ(
        broken(words(R"("a","b")"), words(R"("a")")),
        Texts{R"(pay, paid state: the word "b" is gone)"}
    );
    const auto one = [](const std::string& tag) {
        return R"({"type":"object","properties":{"type":{"const":")" + tag +
               R"("}},"required":["type"]})";
    };
    const auto of = [](const std::string& list) {
        return operation(R"("how":{"oneOf":[)" + list + "]}", "");
    };
    EXPECT_EQ(broken(of(one("card")), of(one("card") + "," + one("bank"))), Texts{});
    EXPECT_EQ(
        broken(of(one("card") + "," + one("bank")), of(one("bank"))),
        Texts{"pay, paid how: the alternative card is gone"}
    );
}

TEST(PointsTest, an_operation_that_is_gone_breaks) {
    EXPECT_EQ(
        broken(operation(id_field, ""), R"({"jobs":{},"operations":{}})"),
        Texts{"pay: the operation is gone, and its open requests would be stranded"}
    );
}

TEST(PointsTest, a_job_that_is_gone_or_has_other_arguments_breaks) {
    const auto jobs = [](const std::string& list) {
        return R"({"operations":{},"jobs":{)" + list + "}}";
    };
    const auto mail = [](const std::string& type) {
        return R"("mail":{"type":"object","properties":{"to":{"type":")" + type +
               R"("}},"required":["to"]})";
    };
    EXPECT_EQ(broken(jobs(mail("string")), jobs(mail("string"))), Texts{});
    EXPECT_EQ(
        broken(jobs(mail("string")), jobs(mail("integer"))), Texts{"job mail, to: has another type"}
    );
    EXPECT_EQ(
        broken(jobs(mail("string")), jobs("")),
        Texts{"job mail: no handler works it, and its jobs would become dead letters"}
    );
    EXPECT_EQ(broken(jobs(""), jobs(mail("string"))), Texts{});
}

}  // namespace
}  // namespace pawl::cli
