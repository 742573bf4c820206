#include "src/ops/marker.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <fstream>

namespace pawl::testing {
namespace {

// Issue 16, number 4: a database restored to an hour ago repeated the calls of that hour.
class RestoreTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
        add_all();
    }
    void add_all() {
        world.add(Order{provider});
        world.add(OrderOnce{provider});
    }
    // From now on the engine knows of a restore to `ago`; clients repeat for 72 h.
    void restored(std::chrono::milliseconds ago, std::int64_t last_key_id = 0) {
        const auto now = world.clock.now();
        world.engine->set_restore_gaps(
            {{.since = now - ago,
              .keys_until = now + 72h,
              .last_key_id = last_key_id,
              .opened = now}}
        );
    }
    std::string reason() { return world.text("SELECT reason FROM pawl_attention"); }
    Answer settle(engine::Settlement::Kind kind) {
        auto promise = std::make_shared<std::promise<Answer>>();
        world.engine->settle(
            {.key_id = world.number("SELECT key_id FROM pawl_attention"),
             .attempt = static_cast<int>(world.number("SELECT attempt FROM pawl_attention")),
             .recovery_point = "ordered",
             .kind = kind,
             .result_name = {},
             .result = {},
             .by = "ann"},
            [promise](Answer answer) { promise->set_value(std::move(answer)); }
        );
        return World::get(promise->get_future());
    }
    Provider provider;
    World world;
};

TEST_F(RestoreTest, a_never_repeated_call_is_not_made_for_a_new_key_in_the_window) {
    restored(1h);

    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(reason(), "restored");
    EXPECT_TRUE(provider.keys.empty()) << "no call";
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
}

TEST_F(RestoreTest, after_the_window_a_new_key_is_a_new_request) {
    restored(1h);
    world.clock.advance(72h);

    EXPECT_EQ(status_of(world.ask<OrderOnce>("k", order_of_jane)), 201);
}

TEST_F(RestoreTest, a_keyed_call_within_the_providers_memory_is_the_same_charge_again) {
    const auto lost = world.ask<Order>("k", order_of_jane);
    ASSERT_EQ(status_of(lost), 201);
    for (const auto* table : {"pawl_key_registry", "pawl_idempotency_keys", "orders", "payments"})
        world.execute("DELETE FROM " + std::string{table});
    restored(1h);

    EXPECT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(RestoreTest, a_keyed_call_that_the_provider_may_have_forgotten_is_not_made) {
    restored(20h);

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(reason(), "restored");
    EXPECT_TRUE(provider.keys.empty());
}

// The provider's memory counts from the lost call, not from its repeat.
TEST_F(RestoreTest, the_memory_of_a_lost_call_is_counted_from_the_lost_time) {
    restored(19h);
    provider.next({Does::doubt});
    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::provider_unavailable);
    world.clock.advance(1h);

    EXPECT_EQ(why_of(world.ask<Order>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(reason(), "forgotten");
    EXPECT_EQ(provider.keys.size(), 1U);
}

// It may have gone on in the lost time, whenever it is resumed.
TEST_F(RestoreTest, an_open_key_of_the_backup_makes_no_call_that_is_never_repeated) {
    provider.next({Does::retry});
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::provider_unavailable);
    restored(1h, world.number("SELECT max(id) FROM pawl_key_registry"));
    world.clock.advance(100h);

    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);

    EXPECT_EQ(reason(), "restored");
    EXPECT_EQ(provider.keys.size(), 1U);
    EXPECT_EQ(status_of(world.ask<OrderOnce>("new", order_of_jane)), 201) << "the window is over";
}

TEST_F(RestoreTest, a_settlement_did_not_happen_makes_the_call_after_a_restore) {
    restored(1h);
    (void)world.ask<OrderOnce>("k", order_of_jane);

    EXPECT_EQ(status_of(settle(engine::Settlement::Kind::did_not_happen)), 201);

    EXPECT_EQ(provider.charges.size(), 1U);
}

// The mark outside the database.
class MarkerTest : public RestoreTest {
protected:
    std::string file() { return (folder.path() / "mark").string(); }
    // A backup from before the last requests.
    void restore_backup() {
        for (const auto* table :
             {"pawl_key_registry", "pawl_idempotency_keys", "orders", "payments"})
            world.execute("DELETE FROM " + std::string{table});
        world.execute(
            "UPDATE pawl_marks SET number = 1, key_id = 0, calls = 0, at = "
            "'2027-01-15T08:00:00.000Z'"
        );
    }
    TempFolder folder;
};

TEST_F(MarkerTest, a_database_behind_its_mark_is_reported_once_at_the_start) {
    ops::Marker before{*world.engine, {.file = file()}};
    before.start();
    world.clock.advance(1h);
    ASSERT_EQ(status_of(world.ask<OrderOnce>("k", order_of_jane)), 201);
    before.run_once();
    restore_backup();

    ops::Marker after{*world.engine, {.file = file()}};
    after.start();
    const int epoch_after = ops::read_mark_file(file()).value().epoch;
    after.run_once();
    ops::Marker again{*world.engine, {.file = file()}};
    again.start();

    EXPECT_EQ(epoch_after, 2) << "the file says it, so that a restore behind this one is noticed";
    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_epochs"), 1);
    EXPECT_EQ(world.text("SELECT lost_since FROM pawl_epochs"), "2027-01-15T08:00:00.000Z");
    EXPECT_EQ(world.text("SELECT keys_until FROM pawl_epochs"), "2027-01-18T09:00:00.000Z");
    EXPECT_EQ(world.text("SELECT action FROM pawl_audit_log"), "restored");
    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
    EXPECT_EQ(reason(), "restored");
}

// PostgreSQL may be restored while servers run.
TEST_F(MarkerTest, a_running_server_detects_a_restore_too) {
    ops::Marker running{*world.engine, {.file = file()}};
    running.start();
    ASSERT_EQ(status_of(world.ask<OrderOnce>("k", order_of_jane)), 201);
    running.run_once();
    restore_backup();

    running.run_once();

    EXPECT_EQ(why_of(world.ask<OrderOnce>("k", order_of_jane)), Reason::needs_attention);
}

TEST_F(MarkerTest, starts_and_rounds_without_a_restore_open_no_epoch) {
    for (int i = 0; i < 3; ++i) {
        ops::Marker one{*world.engine, {.file = file()}};
        one.start();
        (void)world.ask<Order>("k-" + std::to_string(i), order_of_jane);
        one.run_once();
    }

    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_epochs"), 0);
    EXPECT_EQ(world.number("SELECT calls FROM pawl_marks"), 3);
}

TEST_F(MarkerTest, nothing_is_written_while_nothing_happens) {
    ops::Marker one{*world.engine, {.file = file()}};
    one.start();
    (void)world.ask<Order>("k", order_of_jane);
    one.run_once();
    const auto number = world.number("SELECT number FROM pawl_marks");
    const auto written = std::filesystem::last_write_time(file());

    one.run_once();
    one.run_once();

    EXPECT_EQ(world.number("SELECT number FROM pawl_marks"), number);
    EXPECT_EQ(std::filesystem::last_write_time(file()), written);
}

// Issue 16, number 22, as the two below: a restore that lost only calls, or only keys, was not
// detected.
TEST_F(MarkerTest, another_call_of_a_key_is_marked) {
    ops::Marker one{*world.engine, {.file = file()}};
    one.start();
    provider.next({Does::retry});
    (void)world.ask<Order>("k", order_of_jane);
    one.run_once();
    ASSERT_EQ(status_of(world.ask<Order>("k", order_of_jane)), 201);

    one.run_once();

    EXPECT_EQ(ops::read_mark_file(file()).value().mark.calls, 2);
}

TEST_F(MarkerTest, a_key_without_a_call_is_marked) {
    ops::Marker one{*world.engine, {.file = file()}};
    one.start();
    ASSERT_EQ(status_of(world.ask<Order>("k", R"({"customer":"nobody","items":[]})")), 404);

    one.run_once();

    EXPECT_EQ(
        ops::read_mark_file(file()).value().mark.key_id,
        world.number("SELECT max(id) FROM pawl_key_registry")
    );
}

TEST_F(MarkerTest, the_calls_of_a_round_that_failed_are_marked_by_the_next) {
    ops::Marker one{*world.engine, {.file = file()}};
    one.start();
    (void)world.ask<Order>("k", order_of_jane);
    world.store.arm(1, FailingStore::How::undone);
    EXPECT_THROW(one.run_once(), StoreError);

    one.run_once();

    EXPECT_EQ(world.number("SELECT calls FROM pawl_marks"), 1);
}

TEST_F(MarkerTest, a_restore_that_was_declared_is_not_reported_again) {
    ops::Marker before{*world.engine, {.file = file()}};
    before.start();
    (void)world.ask<Order>("k", order_of_jane);
    before.run_once();
    restore_backup();
    store::write_now(world.engine->store(), [&](store::Session& session) {
        const auto now = session.now();
        return ops::open_epoch(session, {now - 1h, now + 1h, "ann", "said"});
    });

    ops::Marker after{*world.engine, {.file = file()}};
    after.start();

    EXPECT_EQ(world.number("SELECT count(*) FROM pawl_epochs"), 1);
    EXPECT_EQ(world.text("SELECT opened_by FROM pawl_epochs"), "ann");
}

TEST_F(MarkerTest, the_mark_of_another_installation_is_refused) {
    {
        ops::Marker one{*world.engine, {.file = file()}};
        one.start();
    }
    ops::write_mark_file(file(), {"another", 1, {.number = 1, .at = world.clock.now()}});

    ops::Marker other{*world.engine, {.file = file()}};

    try {
        other.start();
        FAIL() << "it starts";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string{error.what()}.find("PAWL0017"), std::string::npos) << error.what();
        EXPECT_NE(std::string{error.what()}.find(file()), std::string::npos) << error.what();
    }
}

TEST_F(MarkerTest, a_mark_that_can_not_be_read_is_refused) {
    std::ofstream{file()} << "{\"installation\":";

    ops::Marker one{*world.engine, {.file = file()}};

    EXPECT_THROW(one.start(), std::runtime_error);
}

// Issue 16, number 22. The tests may run as root, who may open any file but a link to itself.
TEST_F(MarkerTest, a_mark_that_is_there_and_can_not_be_opened_is_refused) {
    std::filesystem::create_symlink(file(), file());

    ops::Marker one{*world.engine, {.file = file()}};

    EXPECT_THROW(one.start(), std::runtime_error);
}

TEST_F(MarkerTest, a_failed_write_leaves_the_mark_as_it_was) {
    ops::write_mark_file(file(), {"name", 3, {5, world.clock.now(), 70, 40}});
    std::filesystem::create_directory(file() + ".new");

    EXPECT_THROW(
        ops::write_mark_file(file(), {"name", 3, {6, world.clock.now(), 71, 41}}),
        std::runtime_error
    );

    EXPECT_EQ(ops::read_mark_file(file()).value().mark.number, 5);
}

TEST_F(MarkerTest, a_written_mark_is_read_back) {
    EXPECT_FALSE(ops::read_mark_file(file()));
    const ops::OutsideMark mark{"name", 3, {5, world.clock.now(), 70, 40}};

    ops::write_mark_file(file(), mark);

    const auto found = ops::read_mark_file(file());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->installation, "name");
    EXPECT_EQ(found->epoch, 3);
    EXPECT_FALSE(core::is_behind(found->mark, mark.mark));
    EXPECT_FALSE(core::is_behind(mark.mark, found->mark));
}

}  // namespace
}  // namespace pawl::testing
