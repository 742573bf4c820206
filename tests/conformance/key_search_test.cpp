#include "src/ops/key_search.hpp"

#include "src/engine/key_references.hpp"
#include "src/engine/key_row.hpp"
#include "src/ops/reaper.hpp"
#include "tests/conformance/key_world.hpp"

#include <stdexcept>

// The search for keys by people, and the references by which it finds them.
namespace pawl::conformance {

namespace {

using engine::KeyReferences;
using ops::KeySearch;

class KeySearchTest : public KeyTest {
protected:
    std::vector<std::int64_t> search(const KeySearch& wanted) { return ids(found(wanted)); }
    ops::FoundKeys found(const KeySearch& wanted) {
        return read_now(*store, [&](Session& session) {
            return ops::search_keys(session, wanted);
        });
    }
    static std::vector<std::int64_t> ids(const ops::FoundKeys& found) {
        std::vector<std::int64_t> ids;
        for (const auto& [row, damage] : found.rows) ids.push_back(row.id);
        return ids;
    }
    void refer(std::int64_t id, const std::string& name, const std::string& to) {
        write_now(*store, [&](Session& session) {
            KeyReferences references;
            references.add(name, to);
            references.write(session, id);
        });
    }
    // Of one account and operation; each a second after the one before.
    std::int64_t key_of(
        const std::string& key, const std::string& account, const std::string& operation
    ) {
        clock.advance(1s);
        const auto hash = engine::key_hash({.tenant = "tenant", .account = account, .key = key});
        return open_key(register_key(hash).value(), hash, {account, key, operation});
    }
    void finish_until(std::int64_t id, std::chrono::hours keep) {
        ASSERT_EQ(finish(id, 1, "ride_created", now() + keep), 1);
    }
    void reap_after(std::chrono::hours time) {
        clock.advance(time);
        ops::Reaper{*store, clock, {}}.run_once(now());
    }
    std::int64_t reference_count() {
        return read_rows<std::int64_t>(*store, count_references).at(0);
    }
    // References with the name "ride" in the JSON of that column.
    int shown_rides(const Sql& statement, int column, std::int64_t id) {
        return read_now(*store, [&](Session& session) {
            int rides = 0;
            detail::run_statement(
                session,
                statement,
                [&](const store::Row& row) {
                    const std::string json{row.text(column)};
                    for (auto at = json.find("\"ride\""); at != json.npos;
                         at = json.find("\"ride\"", at + 1))
                        ++rides;
                },
                id
            );
            return rides;
        });
    }
    static constexpr auto count_references =
        on_all<0>("count_references", "SELECT count(*) FROM pawl_key_references");
};
PAWL_ON_EACH_STORE(KeySearchTest);

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_P(KeySearchTest, each_criterion_finds_its_keys_newest_first) {
    const auto a = key_of("k-1", "ann", "book");
    const auto b = key_of("k-2", "bob", "book");
    const auto c = key_of("k-3", "ann", "refund");
    finish_until(a, 72h);
    refer(c, "charge", "ch_1");

    EXPECT_EQ(search({}), (Ids{c, b, a}));
    EXPECT_EQ(search({.key = "k-2"}), Ids{b});
    EXPECT_EQ(search({.account = "ann"}), (Ids{c, a}));
    EXPECT_EQ(search({.tenant = "other"}), Ids{});
    EXPECT_EQ(search({.operation = "book"}), (Ids{b, a}));
    EXPECT_EQ(search({.state = "finished"}), Ids{a});
    EXPECT_EQ(search({.state = "open"}), (Ids{c, b}));
    EXPECT_EQ(search({.point = "ride_created"}), (Ids{c, b}));
    EXPECT_EQ(search({.reference = ops::KeyReference{"charge", "ch_1"}}), Ids{c});
    EXPECT_EQ(search({.reference = ops::KeyReference{"refund", "ch_1"}}), Ids{});
    EXPECT_EQ(search({.text = "ch_1"}), Ids{c});
    EXPECT_EQ(search({.text = "k-2"}), Ids{b});
    EXPECT_EQ(search({.account = "ann", .operation = "book", .state = "finished"}), Ids{a});
    EXPECT_EQ(search({.text = "ch_1", .account = "bob"}), Ids{});
}

TEST_P(KeySearchTest, a_part_of_an_error_finds_keys_whose_error_has_it_in_any_case) {
    const auto a = key_of("k-1", "ann", "book");
    const auto b = key_of("k-2", "ann", "book");
    run(sql::fail_attempt, a, 1, "ride_created", "Bank said 100% no", now());
    run(sql::fail_attempt, b, 1, "ride_created", "bank said 1000 no", now());

    EXPECT_EQ(search({.error = "BANK SAID"}), (Ids{b, a}));
    EXPECT_EQ(search({.error = "100% no"}), Ids{a});
    EXPECT_EQ(search({.error = "nothing"}), Ids{});
}

TEST_P(KeySearchTest, a_key_on_the_attention_list_is_found_by_its_state) {
    const auto a = key_of("k-1", "ann", "book");
    key_of("k-2", "ann", "book");
    ASSERT_EQ(to_attention(a, 1), 1);

    EXPECT_EQ(search({.state = "attention"}), Ids{a});
    EXPECT_EQ(search({.error = "why"}), Ids{a});
}

TEST_P(KeySearchTest, times_bound_the_result) {
    const auto a = key_of("k-1", "ann", "book");
    const auto second = now();
    const auto b = key_of("k-2", "ann", "book");
    const auto third = now();

    EXPECT_EQ(search({.since = second + 1ms}), Ids{b});
    EXPECT_EQ(search({.until = third}), Ids{a});
    EXPECT_EQ(search({.account = "ann", .since = second, .until = third}), Ids{a});
}

// Servers preallocate ids in blocks (docs/adr/0010).
TEST_P(KeySearchTest, keys_are_in_the_order_of_time_and_not_of_their_ids) {
    const auto registered_early = register_key("a").value();
    const auto b = open_key("b");
    clock.advance(1s);
    const auto a = open_key(registered_early, "a");
    const auto c = open_key("c");
    ASSERT_LT(a, b);

    const KeySearch after_a{.after = ops::KeyPlace{now(), a}};
    EXPECT_EQ(search({}), (Ids{c, a, b}));
    EXPECT_EQ(search({.limit = 1}), Ids{c});
    EXPECT_EQ(search(after_a), Ids{b});
    const auto place =
        read_now(*store, [&](Session& session) { return ops::place_of_key(session, a); });
    ASSERT_TRUE(place);
    EXPECT_EQ(place->at, now());
}

TEST_P(KeySearchTest, pages_have_each_key_once) {
    Ids all;
    for (int i = 0; i < 5; ++i) all.insert(all.begin(), key_of("k" + std::to_string(i), "a", "b"));
    const KeySearch all_criteria[] = {{}, {.account = "a"}, {.operation = "b"}, {.state = "open"}};
    for (auto wanted : all_criteria) {
        wanted.limit = 2;
        Ids seen;
        do {
            const auto page = found(wanted);
            for (const auto id : ids(page)) seen.push_back(id);
            wanted.after = page.next;
        } while (wanted.after);
        EXPECT_EQ(seen, all);
    }
}

TEST_P(KeySearchTest, an_expired_key_is_found_by_what_is_left_of_it) {
    const auto a = key_of("k-1", "ann", "book");
    const auto b = key_of("k-2", "ann", "book");
    refer(a, "charge", "ch_1");
    refer(b, "charge", "ch_2");
    finish_until(a, 24h);
    reap_after(25h);

    const auto page = found({.text = "ch_1"});
    ASSERT_EQ(ids(page), Ids{a});
    EXPECT_EQ(page.rows[0].row.status, "expired");
    EXPECT_EQ(page.rows[0].row.response_status, 201);
    EXPECT_FALSE(page.rows[0].row.account);
    EXPECT_TRUE(page.rows[0].row.expired_at);
    EXPECT_EQ(search({.reference = ops::KeyReference{"charge", "ch_1"}}), Ids{a});
    EXPECT_EQ(search({.key = "k-1"}), Ids{a});
    EXPECT_EQ(search({.text = "k-1"}), Ids{a});
    EXPECT_EQ(search({.key = "k-1", .account = "ann", .tenant = "tenant"}), Ids{a});
    EXPECT_EQ(search({.key = "k-1", .account = "bob", .tenant = "tenant"}), Ids{});
    EXPECT_EQ(search({.state = "expired"}), Ids{a});
    EXPECT_EQ(search({.state = "expired", .until = now() - 1h}), Ids{});
    EXPECT_EQ(search({.account = "ann", .state = "expired"}), Ids{});
    EXPECT_EQ(search({.reference = ops::KeyReference{"charge", "ch_1"}, .state = "open"}), Ids{});
    EXPECT_EQ(search({.text = "ch_1", .operation = "book"}), Ids{});
}

TEST_P(KeySearchTest, references_are_deleted_with_what_is_left_of_an_expired_key) {
    const auto a = key_of("k-1", "ann", "book");
    const auto b = key_of("k-2", "ann", "book");
    refer(a, "charge", "ch_1");
    refer(b, "charge", "ch_2");
    finish_until(a, 24h);
    reap_after(25h);
    ASSERT_EQ(reference_count(), 2);

    reap_after(401 * 24h);

    EXPECT_EQ(search({.text = "ch_1"}), Ids{});
    EXPECT_EQ(search({.text = "ch_2"}), Ids{b});
    EXPECT_EQ(reference_count(), 1);
}

// PostgreSQL stores it each time (ADR 41).
TEST_P(KeySearchTest, a_reference_that_is_named_again_is_found_once) {
    const auto a = key_of("k-1", "ann", "book");
    write_now(*store, [&](Session& session) {
        KeyReferences references;
        for (const auto* id : {"1", "2", "1"}) references.add("ride", id);
        references.write(session, a);
        references.write(session, a);
        references.add("ride", "2");
        references.write(session, a);
    });
    const auto other = key_of("k-2", "ann", "book");
    refer(other, "ride", "2");

    EXPECT_EQ(
        read_rows<std::int64_t>(*store, sql::find_keys_by_reference, "2", "ride", 10),
        (Ids{other, a})
    );
    EXPECT_EQ(search({.text = "2"}), (Ids{other, a}));
    EXPECT_EQ(shown_rides(sql::show_key, 34, a), 2);
    finish_until(a, 1h);
    reap_after(2h);
    EXPECT_EQ(shown_rides(sql::show_expired, 6, a), 2);
}

TEST_P(KeySearchTest, references_follow_a_key_that_is_executed_again) {
    const auto a = key_of("k-1", "ann", "book");
    const auto b = key_of("k-2", "ann", "book");
    refer(a, "charge", "ch_1");

    run(sql::move_key_references, a, b);

    EXPECT_EQ(search({.text = "ch_1"}), Ids{b});
}

TEST_P(KeySearchTest, a_reference_beyond_the_limits_is_refused) {
    KeyReferences references;
    const std::string long_name(KeyReferences::name_max + 1, 'x');
    const std::string long_id(KeyReferences::id_max + 1, 'x');
    for (const std::string name : {"", "Ride", "my ride", "request", long_name.c_str()})
        EXPECT_THROW(references.add(name, "1"), std::invalid_argument) << name;
    for (const std::string id : {"", "a\nb", "\xff", long_id.c_str()})
        EXPECT_THROW(references.add("ride", id), std::invalid_argument) << id;
    for (std::size_t i = 0; i < KeyReferences::references_max; ++i)
        references.add("ride", std::to_string(i));
    EXPECT_THROW(references.add("ride", "x"), std::invalid_argument);
}

}  // namespace pawl::conformance
