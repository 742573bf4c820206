#include "tests/conformance/key_world.hpp"

// What only the operator's page and its command read: the audit as a list, and the samples.
namespace pawl::conformance {

namespace {

class PageStoreTest : public KeyTest {
protected:
    struct Audit {
        std::int64_t id;
        TimePoint at;
        std::string actor;
        std::string action;
        std::optional<std::int64_t> key_id;
        std::string detail;
    };
    struct Sample {
        TimePoint at;
        std::string sample;
    };
    void audit(const char* actor, std::optional<std::int64_t> key) {
        write_now(*store, [&](Session& session) {
            detail::execute_statement(
                session, sql::insert_audit, TimePoint{5ms}, std::string{actor}, "settle", key, "why"
            );
        });
    }
    void sample(TimePoint at, std::int64_t by, const char* text) {
        write_now(*store, [&](Session& session) {
            detail::execute_statement(session, sql::insert_sample, at, by, std::string{text});
        });
    }
    std::vector<std::string> samples(TimePoint since, std::int64_t limit) {
        std::vector<std::string> found;
        for (const auto& row : read_rows<Sample>(*store, sql::list_samples, since, limit))
            found.push_back(row.sample);
        return found;
    }
};
PAWL_ON_EACH_STORE(PageStoreTest);

}  // namespace

TEST_P(PageStoreTest, the_audit_is_read_from_its_end_in_pages) {
    for (const auto* actor : {"ann", "bob", "eve"}) audit(actor, 7);
    const std::optional<std::int64_t> none;
    const auto first = read_rows<Audit>(*store, sql::list_audit, none, std::int64_t{2});
    ASSERT_EQ(first.size(), 2);
    EXPECT_EQ(first[0].actor, "eve");
    EXPECT_EQ(first[1].actor, "bob");
    EXPECT_EQ(first[1].key_id, 7);
    const auto second =
        read_rows<Audit>(*store, sql::list_audit, std::optional{first[1].id}, std::int64_t{2});
    ASSERT_EQ(second.size(), 1);
    EXPECT_EQ(second[0].actor, "ann");
}

TEST_P(PageStoreTest, samples_are_read_by_time_and_the_old_ones_removed) {
    sample(TimePoint{60s}, 1, "a");
    sample(TimePoint{120s}, 2, "c");
    sample(TimePoint{120s}, 1, "b");
    sample(TimePoint{120s}, 1, "again");
    EXPECT_EQ(samples(TimePoint{0s}, 10), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(samples(TimePoint{61s}, 10), (std::vector<std::string>{"b", "c"}));
    EXPECT_EQ(samples(TimePoint{0s}, 1), (std::vector<std::string>{"a"}));
    write_now(*store, [&](Session& session) {
        EXPECT_EQ(detail::execute_statement(session, sql::delete_samples, TimePoint{120s}), 1);
    });
    EXPECT_EQ(samples(TimePoint{0s}, 10), (std::vector<std::string>{"b", "c"}));
}

}  // namespace pawl::conformance
