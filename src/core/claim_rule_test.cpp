#include "src/core/claim_rule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::core::claim_rule_test {
namespace {

using namespace std::chrono_literals;

const TimePoint now{1'000'000s};
constexpr std::chrono::milliseconds lease = 30s;

std::string name_of(const Claim& claim) {
    const std::vector<std::string> names{
        "fresh",
        "resume",
        "replay",
        "busy",
        "mismatch",
        "not comparable",
        "expired",
        "re-execute",
        "needs person",
        "on hold",
        "stranded"};
    return names.at(claim.index());
}

struct Case {
    std::string name;
    std::optional<KeyFacts> found;
    bool re_execute{};
    std::string claim;
};

TEST(DecideClaim, follows_the_table) {
    const std::vector<Case> cases{
        {"nothing found", std::nullopt, false, "fresh"},
        {"finished", KeyFacts{.status = KeyStatus::finished}, false, "replay"},
        {"finished, other request",
         KeyFacts{.same_request = false, .status = KeyStatus::finished},
         false,
         "mismatch"},
        {"at work, other request",
         KeyFacts{.same_request = false, .lease_until = now + 5s},
         false,
         "mismatch"},
        {"at work", KeyFacts{.lease_until = now + 1ms}, false, "busy"},
        {"lease over this moment", KeyFacts{.lease_until = now}, false, "resume"},
        {"released", KeyFacts{}, false, "resume"},
        {"lease longer than any", KeyFacts{.lease_until = now + 2 * lease + 1ms}, false, "resume"},
        {"lease by a clock some ms ahead",
         KeyFacts{.lease_until = now + lease + 20ms},
         false,
         "busy"},
        {"longest lease", KeyFacts{.lease_until = now + lease}, false, "busy"},
        {"needs a person", KeyFacts{.status = KeyStatus::attention}, false, "needs person"},
        {"expired", KeyFacts{.expired = true}, false, "expired"},
        {"expired, may run again", KeyFacts{.expired = true}, true, "re-execute"},
        {"finished, may run again once expired",
         KeyFacts{.status = KeyStatus::finished},
         true,
         "replay"},
        {"held by an operator", KeyFacts{.held = true}, false, "on hold"},
        {"held, and an attempt is at work",
         KeyFacts{.lease_until = now + 1ms, .held = true},
         false,
         "busy"},
        {"held while it was at work, and finished by that attempt",
         KeyFacts{.status = KeyStatus::finished, .held = true},
         false,
         "replay"},
        {"secret unknown, finished",
         KeyFacts{.comparable = false, .status = KeyStatus::finished},
         false,
         "not comparable"},
        {"secret unknown, at work",
         KeyFacts{.same_request = false, .comparable = false, .lease_until = now + 5s},
         false,
         "not comparable"},
        {"secret unknown, expired",
         KeyFacts{.expired = true, .comparable = false},
         false,
         "expired"},
        {"held, other request", KeyFacts{.same_request = false, .held = true}, false, "mismatch"},
        {"held at an unknown point",
         KeyFacts{.held = true, .point_known = false},
         false,
         "on hold"},
        {"unknown point", KeyFacts{.point_known = false}, false, "stranded"},
        {"unknown point, at work elsewhere",
         KeyFacts{.lease_until = now + 1s, .point_known = false},
         false,
         "busy"},
        {"unknown point, finished",
         KeyFacts{.status = KeyStatus::finished, .point_known = false},
         false,
         "replay"},
    };
    for (const auto& c : cases) {
        const auto claim = decide_claim(c.found ? &*c.found : nullptr, c.re_execute, now, lease);
        EXPECT_EQ(name_of(claim), c.claim) << c.name;
    }
}

}  // namespace
}  // namespace pawl::core::claim_rule_test
