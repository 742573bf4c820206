#include <pawl/outcome.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace pawl {
namespace {

struct Accepted {
    std::string id;
};
struct Refused {};
using End = Outcome<Accepted, Refused>;

// A provider that answers in plain text.
std::optional<End> read(const Answered& answered) {
    if (answered.status == 200 && answered.body != "<html>") return Accepted{answered.body};
    if (answered.body == "refused") return Refused{};
    if (answered.body == "wrong") return Stuck{"our mistake"};
    return std::nullopt;
}

std::string name_of(const End& end) {
    struct Name {
        std::string operator()(const Retry& why) const { return "retry: " + why.why; }
        std::string operator()(const InDoubt& why) const { return "in doubt: " + why.why; }
        std::string operator()(const Stuck& why) const { return "stuck: " + why.why; }
        std::string operator()(const Accepted& accepted) const { return "accepted " + accepted.id; }
        std::string operator()(const Refused&) const { return "refused"; }
    };
    return std::visit(Name{}, end.value());
}

TEST(Outcome, of_a_call_is_what_the_body_or_else_the_status_proves) {
    struct Case {
        ClientResult end;
        std::string outcome;
    };
    for (const auto& c : std::vector<Case>{
             {GaveUp{.in_doubt = false, .why = "refused"}, "retry: refused"},
             {GaveUp{.in_doubt = true, .why = "lost"}, "in doubt: lost"},
             {Answered{.status = 200, .body = "ch_1"}, "accepted ch_1"},
             {Answered{.status = 200, .body = "<html>"}, "in doubt: the provider said 200"},
             {Answered{.status = 302}, "in doubt: the provider said 302"},
             {Answered{.status = 402, .body = "refused"}, "refused"},
             {Answered{.status = 409, .body = "refused"}, "refused"},
             {Answered{.status = 400, .body = "wrong"}, "stuck: our mistake"},
             {Answered{.status = 404}, "in doubt: the provider said 404"},
             {Answered{.status = 409}, "in doubt: the provider said 409"},
             {Answered{.status = 401}, "retry: the provider said 401"},
             {Answered{.status = 403}, "retry: the provider said 403"},
             {Answered{.status = 429}, "retry: the provider said 429"},
             {Answered{.status = 429, .in_doubt = true}, "in doubt: the provider said 429"},
             {Answered{.status = 500, .body = "refused"}, "in doubt: the provider said 500"},
             {Answered{.status = 503, .replayed = true},
              "stuck: the provider repeats a stored error, status 503"}})
        EXPECT_EQ(name_of(outcome<Accepted, Refused>(c.end, &read)), c.outcome);
}

TEST(Outcome, of_answers_that_the_status_tells_apart) {
    struct Case {
        ClientResult end;
        std::string outcome;
    };
    for (const auto& c : std::vector<Case>{
             {Answered{.status = 201, .body = R"({"id":"ch_1","more":[]})"}, "accepted ch_1"},
             {Answered{.status = 201, .body = "<html>"}, "in doubt: the provider said 201"},
             {Answered{.status = 200, .body = R"({"id":"ch_1"})"},
              "in doubt: the provider said 200"},
             {Answered{.status = 422, .body = R"({"why":"closed"})"}, "refused"},
             {Answered{.status = 429, .body = "{}"}, "retry: the provider said 429"},
             {GaveUp{.in_doubt = true, .why = "lost"}, "in doubt: lost"}})
        EXPECT_EQ(
            name_of(outcome<ByStatus<201, Accepted>, ByStatus<422, Refused>>(c.end)), c.outcome
        );
}

TEST(Outcome, of_a_job_that_sent_one_request) {
    const auto thrown = [](const ClientResult& end) -> std::string {
        try {
            (void)job_result(end);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "nothing";
    };

    EXPECT_TRUE(std::holds_alternative<JobDone>(job_result(Answered{.status = 204})));
    const auto stored = job_result(Answered{.status = 422, .replayed = true});
    EXPECT_EQ(
        std::get<JobDiscarded>(stored).why,
        "the receiver answered 422, and has stored it under the job's key"
    );
    EXPECT_EQ(thrown(Answered{.status = 302}), "the receiver answered 302");
    EXPECT_EQ(thrown(Answered{.status = 422}), "the receiver answered 422");
    EXPECT_EQ(thrown(Answered{.status = 503}), "the receiver answered 503");
    EXPECT_EQ(thrown(GaveUp{.in_doubt = true, .why = "lost"}), "no answer: lost");
}

}  // namespace
}  // namespace pawl
