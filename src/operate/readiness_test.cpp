#include "src/operate/readiness.hpp"

#include <gtest/gtest.h>

namespace pawl::operate {
namespace {

ReadinessFacts serving() {
    ReadinessFacts facts;
    facts.started = true;
    facts.disk = Disk{.free = 100, .size = 1'000};
    facts.disk_free_min = 50;
    return facts;
}

TEST(Readiness, a_server_that_serves_is_ready_and_says_no_detail) {
    const auto found = decide_readiness(serving());

    EXPECT_TRUE(found.ready);
    for (const auto& check : found.checks) EXPECT_EQ(check.detail, "") << check.name;
}

TEST(Readiness, each_fact_alone_makes_a_server_not_ready_and_is_named) {
    const struct {
        const char* check;
        void (*change)(ReadinessFacts&);
        const char* detail;
    } cases[]{
        {"started", [](auto& f) { f.started = false; }, "the service has not started yet"},
        {"serving", [](auto& f) { f.stopping = true; }, "the server is stopping"},
        {"store", [](auto& f) { f.store_down = "no route"; }, "no route"},
        {"disk", [](auto& f) { f.disk->free = 49; }, "49 bytes are free of 1000: at least 50"},
        {"migrations",
         [](auto& f) {
             f.migrations_missing = {"pawl/0001", "rides/0002"};
         },
         "the database does not have pawl/0001, rides/0002"},
        {"jobs",
         [](auto& f) { f.jobs_unreadable = "statement claim_jobs"; },
         "statement claim_jobs"},
    };
    for (const auto& c : cases) {
        auto facts = serving();
        c.change(facts);

        const auto found = decide_readiness(facts);

        EXPECT_FALSE(found.ready) << c.check;
        for (const auto& check : found.checks) {
            EXPECT_EQ(check.ok, check.name != c.check) << check.name;
            EXPECT_EQ(check.detail, check.name == c.check ? c.detail : "") << check.name;
        }
    }
}

TEST(Readiness, another_database_has_no_check_of_the_disk) {
    auto facts = serving();
    facts.disk.reset();

    const auto found = decide_readiness(facts);

    EXPECT_TRUE(found.ready);
    for (const auto& check : found.checks) EXPECT_NE(check.name, "disk");
}

}  // namespace
}  // namespace pawl::operate
