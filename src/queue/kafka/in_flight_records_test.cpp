#include "src/queue/kafka/in_flight_records.hpp"

#include <gmock/gmock.h>

namespace pawl::queue::kafka {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Partition p0{"t", 0};
const Partition p1{"t", 1};

TimePoint at(std::chrono::milliseconds ms) {
    return TimePoint{ms};
}

class InFlightRecordsTest : public ::testing::Test {
protected:
    bool add(
        std::int64_t offset,
        std::chrono::milliseconds due = 0ms,
        const Partition& to = p0,
        int failures = 0
    ) {
        Record record;
        record.partition = to;
        record.offset = offset;
        record.value = std::string(100, 'x');
        if (failures > 0)
            record.headers.push_back({"retry_topic-attempts", int32_bytes(failures + 1)});
        return in_flight.add(std::make_shared<const Record>(std::move(record)), at(due));
    }
    std::vector<std::int64_t> offsets(int limit, std::chrono::milliseconds now) {
        std::vector<std::int64_t> found;
        for (const auto& taken : in_flight.claim(limit, at(now), at(now + 30s)))
            found.push_back(taken.token.offset);
        return found;
    }
    Token claim(std::chrono::milliseconds now = 0ms) {
        return in_flight.claim(1, at(now), at(now + 30s)).at(0).token;
    }
    std::int64_t committable(const Partition& of = p0) {
        const auto position = in_flight.position(of);
        return position ? position->offset : -1;
    }

    InFlightRecords in_flight{InFlightRecords::Limits{.records = 4, .ahead = 100}};
};

}  // namespace

TEST_F(InFlightRecordsTest, the_longest_due_comes_first_and_nothing_comes_early) {
    in_flight.assign(p0, 0, "");
    add(0, 30ms);
    add(1, 10ms);
    add(2, 20ms);

    EXPECT_EQ(in_flight.next_due(), at(10ms));
    EXPECT_THAT(offsets(9, 9ms), IsEmpty());
    EXPECT_THAT(offsets(9, 20ms), ElementsAre(1, 2));
    EXPECT_EQ(in_flight.next_due(), at(30ms));
}

TEST_F(InFlightRecordsTest, first_tries_and_retries_wait_apart_and_the_first_due_is_of_all) {
    in_flight.assign(p0, 0, "");
    add(0, 20ms);
    add(1, 30ms, p0, 1);
    EXPECT_EQ(in_flight.next_due(), at(20ms));
    add(2, 10ms, p0, 2);
    EXPECT_EQ(in_flight.next_due(), at(10ms));

    const auto retries = in_flight.claim(9, at(50ms), at(80ms), {.failures_min = 1});

    EXPECT_EQ(retries.size(), 2);
    EXPECT_EQ(in_flight.next_due(), at(20ms));
}

TEST_F(InFlightRecordsTest, an_offset_is_held_back_until_all_before_it_is_done) {
    in_flight.assign(p0, 5, "");
    for (int offset = 5; offset < 8; ++offset) add(offset);
    const auto first = claim();
    const auto second = claim();

    EXPECT_TRUE(in_flight.done(second));
    EXPECT_EQ(committable(), 5);
    EXPECT_EQ(in_flight.position(p0)->gaps, "1:1,1");
    EXPECT_TRUE(in_flight.done(first));
    EXPECT_EQ(committable(), 7);
    EXPECT_TRUE(in_flight.done(claim()));
    EXPECT_EQ(committable(), 8);
}

TEST_F(InFlightRecordsTest, a_committed_position_is_not_reported_again) {
    in_flight.assign(p0, 5, "");
    EXPECT_THAT(in_flight.positions(), IsEmpty());
    add(5);
    EXPECT_THAT(in_flight.positions(), IsEmpty()) << "5 is committed already";
    in_flight.done(claim());
    ASSERT_EQ(in_flight.positions().size(), 1);

    in_flight.committed(in_flight.positions().at(0));

    EXPECT_THAT(in_flight.positions(), IsEmpty());
}

TEST_F(InFlightRecordsTest, the_next_owner_skips_what_was_done_after_the_offset) {
    in_flight.assign(p0, 5, "1:1,2,1,1");

    EXPECT_TRUE(add(5));
    EXPECT_FALSE(add(6));
    EXPECT_EQ(committable(), -1) << "what is not read again yet would be lost";
    EXPECT_FALSE(add(7));
    EXPECT_TRUE(add(8));
    EXPECT_FALSE(add(9));
    EXPECT_TRUE(add(10));

    EXPECT_THAT(offsets(9, 0ms), ElementsAre(5, 8, 10));
    EXPECT_EQ(in_flight.next(p0), 11);
}

TEST_F(InFlightRecordsTest, a_recreated_topic_loses_no_record) {
    in_flight.assign(p0, 500, "1:1,20");

    EXPECT_TRUE(add(0));
    EXPECT_TRUE(add(1));
    in_flight.done(claim());

    EXPECT_EQ(committable(), 1);
    EXPECT_TRUE(add(505)) << "what was done was another topic's";
}

TEST_F(InFlightRecordsTest, a_revoked_partition_drops_its_records_and_tokens) {
    in_flight.assign(p0, 0, "");
    in_flight.assign(p1, 0, "");
    add(0, 0ms, p0);
    add(0, 0ms, p1);
    add(1, 0ms, p0);
    const auto old = claim();
    ASSERT_EQ(old.partition, p0);

    in_flight.revoke(p0);

    EXPECT_FALSE(in_flight.find(old));
    EXPECT_FALSE(in_flight.renew(old, at(1h)));
    EXPECT_FALSE(in_flight.done(old));
    EXPECT_FALSE(in_flight.release(old));
    EXPECT_FALSE(add(2, 0ms, p0)) << "read too late";
    EXPECT_THAT(in_flight.partitions(), ElementsAre(p1));
    EXPECT_THAT(offsets(9, 0ms), ElementsAre(0));
}

TEST_F(InFlightRecordsTest, no_two_claims_have_the_same_fence_even_after_a_reassignment) {
    in_flight.assign(p0, 0, "");
    add(0);
    const auto first = claim();
    in_flight.revoke(p0);
    in_flight.assign(p0, 0, "");
    add(0);
    const auto second = claim();
    in_flight.release(second);
    const auto third = claim();

    EXPECT_NE(first.claim, second.claim);
    EXPECT_NE(second.claim, third.claim);
    EXPECT_FALSE(in_flight.done(first));
    EXPECT_FALSE(in_flight.done(second));
    EXPECT_TRUE(in_flight.done(third));
    EXPECT_FALSE(in_flight.done(third));
}

TEST_F(InFlightRecordsTest, a_record_whose_lease_ended_or_is_impossible_is_freed) {
    in_flight.assign(p0, 0, "");
    for (int offset = 0; offset < 3; ++offset) add(offset);
    const auto ended = claim();
    const auto runs = claim();
    const auto wrong = claim();
    in_flight.renew(runs, at(60s));
    in_flight.renew(wrong, at(24h));

    EXPECT_EQ(in_flight.rescue(at(30s), at(90s)), 2);

    EXPECT_TRUE(in_flight.find(runs));
    EXPECT_FALSE(in_flight.find(ended));
    EXPECT_FALSE(in_flight.find(wrong));
    EXPECT_THAT(offsets(9, 30s), ElementsAre(0, 2));
}

TEST_F(InFlightRecordsTest, a_full_partition_is_paused_once_and_read_again_when_half_is_done) {
    in_flight.assign(p0, 0, "");
    in_flight.assign(p1, 0, "");
    for (int offset = 0; offset < 4; ++offset) add(offset);

    EXPECT_THAT(in_flight.to_pause(), ElementsAre(p0));
    EXPECT_THAT(in_flight.to_pause(), IsEmpty());
    EXPECT_THAT(in_flight.to_resume(), IsEmpty());
    in_flight.done(claim());
    EXPECT_THAT(in_flight.to_resume(), IsEmpty());
    in_flight.done(claim());
    EXPECT_THAT(in_flight.to_resume(), ElementsAre(p0));
}

TEST_F(InFlightRecordsTest, a_long_held_record_limits_how_far_ahead_its_partition_is_read) {
    in_flight.assign(p0, 0, "");
    add(0, 1h);
    for (int offset = 1; offset < 99; ++offset) {
        add(offset);
        in_flight.done(claim());
    }
    EXPECT_THAT(in_flight.to_pause(), IsEmpty());

    add(99);

    EXPECT_THAT(in_flight.to_pause(), ElementsAre(p0));
}

TEST_F(InFlightRecordsTest, a_partition_that_is_not_assigned_has_no_position) {
    in_flight.assign(p0, 3, "");

    EXPECT_EQ(in_flight.position(p1), std::nullopt);
    EXPECT_EQ(in_flight.next(p1), std::nullopt);
    in_flight.committed({p1, 9, ""});  // An answer that came after the revocation.
    EXPECT_THAT(in_flight.partitions(), ElementsAre(p0));
    EXPECT_EQ(in_flight.next(p0), 3);
}

TEST_F(InFlightRecordsTest, without_a_committed_offset_and_records_there_is_nothing_to_commit) {
    in_flight.assign(p0, std::nullopt, "");

    EXPECT_EQ(in_flight.position(p0), std::nullopt);
    EXPECT_EQ(in_flight.next_due(), std::nullopt);
    add(7);
    in_flight.done(claim());
    EXPECT_EQ(committable(), 8);
}

TEST_F(InFlightRecordsTest, a_waiting_record_has_no_fence) {
    in_flight.assign(p0, 0, "");
    add(0);

    EXPECT_FALSE(in_flight.find({p0, 0, 0}));
    EXPECT_FALSE(in_flight.done({p0, 0, 0}));
    EXPECT_EQ(in_flight.rescue(at(24h), at(48h)), 0) << "it is in nobody's hands";
}

TEST_F(InFlightRecordsTest, a_partition_at_its_byte_limit_is_paused_until_half_are_done) {
    InFlightRecords small{InFlightRecords::Limits{.records = 100, .bytes = 800, .ahead = 100}};
    small.assign(p0, 0, "");
    for (int offset = 0; offset < 5; ++offset) {
        Record record;
        record.partition = p0;
        record.offset = offset;
        record.value = std::string(100, 'x');  // 170 bytes with the overhead.
        small.add(std::make_shared<const Record>(std::move(record)), at(0ms));
        EXPECT_THAT(small.to_pause(), SizeIs(offset < 4 ? 0 : 1)) << offset;
    }

    const auto taken = small.claim(5, at(0ms), at(30s));
    for (int done = 0; done < 2; ++done) {
        small.done(taken.at(static_cast<std::size_t>(done)).token);
        EXPECT_THAT(small.to_resume(), IsEmpty()) << done;
    }
    small.done(taken.at(2).token);
    EXPECT_THAT(small.to_resume(), ElementsAre(p0));
}

TEST_F(InFlightRecordsTest, a_partition_too_far_ahead_is_resumed_when_the_oldest_record_is_done) {
    in_flight.assign(p0, 0, "");
    add(0, 1h);
    for (int offset = 1; offset < 100; ++offset) {
        add(offset);
        in_flight.done(claim());
    }
    ASSERT_THAT(in_flight.to_pause(), ElementsAre(p0));

    EXPECT_THAT(in_flight.to_resume(), IsEmpty());
    in_flight.done(claim(1h));
    EXPECT_THAT(in_flight.to_resume(), ElementsAre(p0));
}

TEST_F(InFlightRecordsTest, the_same_record_is_held_once) {
    in_flight.assign(p0, 0, "");

    EXPECT_TRUE(add(0));
    EXPECT_FALSE(add(0));
}

}  // namespace pawl::queue::kafka
