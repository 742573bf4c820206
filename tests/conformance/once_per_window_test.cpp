#include <pawl/lease.hpp>
#include <pawl/locks.hpp>
#include <pawl/once_per_window.hpp>

#include "src/ops/reaper.hpp"
#include "tests/conformance/in_tx.hpp"

// Functions for a phase's own transaction, on each store: once per window, fence, lock.
namespace pawl::conformance {

namespace {

struct RideId {
    std::int64_t value{};
};
struct Booked {
    RideId ride{};
    std::string note;
};

class OncePerWindowTest : public InTx {
protected:
    const Principal jane{"rides", "jane"};
    Once<RideId> book(const Principal& who, std::string_view about = {}) {
        return in_tx([&](Tx& tx) {
            return order.run(tx, who, about, [&] { return RideId{++made}; });
        });
    }
    static constexpr OncePerWindow order{.action = "order", .window = 5s};
    std::int64_t made{0};
};
PAWL_ON_EACH_STORE(OncePerWindowTest);

class FencedTest : public InTx {
protected:
    std::optional<std::int64_t> pass(const std::string& name, std::int64_t epoch) {
        return in_tx([&](Tx& tx) -> std::optional<std::int64_t> {
            try {
                check_fencing_token(tx, FencingToken::received(name, epoch));
                execute(tx, notes::insert, name + std::to_string(++written));
                return std::nullopt;
            } catch (const StaleFencingToken& off) {
                EXPECT_EQ(off.epoch(), epoch);
                EXPECT_NE(std::string{off.what()}.find("'" + name + "'"), std::string::npos);
                return off.seen();
            }
        });
    }
    int written{0};
};
PAWL_ON_EACH_STORE(FencedTest);

class TxLockTest : public InTx {};
PAWL_ON_EACH_STORE(TxLockTest);

}  // namespace

TEST_P(OncePerWindowTest, later_runs_in_the_window_get_the_first_result) {
    const auto first = book(jane);
    clock.advance(5s - 1ms);
    const auto second = book(jane);

    EXPECT_TRUE(first.first);
    EXPECT_FALSE(second.first);
    EXPECT_EQ(second.value.value, first.value.value);
    EXPECT_EQ(made, 1);
}

TEST_P(OncePerWindowTest, the_window_begins_with_the_first_run_and_is_not_prolonged) {
    book(jane);
    clock.advance(4s);
    book(jane);
    clock.advance(1s);

    const auto next = book(jane);

    EXPECT_TRUE(next.first);
    EXPECT_EQ(next.value.value, 2);
    clock.advance(4s);
    EXPECT_FALSE(book(jane).first) << "and has a window of its own";
}

// Found by reading: if f threw, the window was committed without a result, and the next caller
// failed to read it.
TEST_P(OncePerWindowTest, a_failed_run_leaves_no_window_even_if_its_phase_goes_on) {
    const auto fail_and_go_on = [&](const std::string& note) {
        in_tx([&](Tx& tx) {
            EXPECT_THROW(
                order.run(tx, jane, []() -> RideId { throw std::runtime_error{"no rocket"}; }),
                std::runtime_error
            );
            execute(tx, notes::insert, note);
        });
    };
    fail_and_go_on("it went on");
    EXPECT_TRUE(book(jane).first);
    clock.advance(5s);
    fail_and_go_on("and again");
    EXPECT_TRUE(book(jane).first) << "nor in the place of a window that was over";
    clock.advance(5s);
    in_tx([&](Tx& tx) {
        const auto too_much = [] { return std::string(64 * 1024, 'x'); };
        EXPECT_THROW(order.run(tx, jane, too_much), std::invalid_argument);
    });

    EXPECT_TRUE(book(jane).first);
    EXPECT_EQ(made, 3);
}

// After a failed statement the window can't be closed: the original error is thrown.
TEST_P(OncePerWindowTest, the_error_of_a_failed_statement_is_thrown) {
    const auto bad = [&] {
        in_tx([&](Tx& tx) {
            order.run(tx, jane, [&]() -> RideId {
                execute(tx, notes::insert, "once");
                execute(tx, notes::insert, "once");
                return {};
            });
        });
    };
    try {
        bad();
        ADD_FAILURE() << "the second note was taken";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.kind(), StoreError::Kind::constraint);
    }
    EXPECT_TRUE(book(jane).first);
}

TEST_P(OncePerWindowTest, another_account_action_or_article_has_its_own_window) {
    static constexpr OncePerWindow refund{.action = "refund", .window = 5s};
    book(jane);

    EXPECT_TRUE(book({"rides", "joe"}).first);
    EXPECT_TRUE(book({"others", "jane"}).first);
    EXPECT_TRUE(book(jane, "to the moon").first);
    EXPECT_TRUE(in_tx([&](Tx& tx) { return refund.run(tx, jane, [] { return RideId{9}; }); }).first
    );
    EXPECT_FALSE(book(jane).first);
    EXPECT_FALSE(book(jane, "to the moon").first);
}

TEST_P(OncePerWindowTest, a_run_that_was_rolled_back_was_not_the_first) {
    EXPECT_ANY_THROW(in_tx([&](Tx& tx) {
        order.run(tx, jane, [] { return RideId{7}; });
        throw std::runtime_error{"after all"};
    }));

    const auto next = book(jane);

    EXPECT_TRUE(next.first);
    EXPECT_EQ(next.value.value, 1);
}

TEST_P(OncePerWindowTest, a_fault_of_the_first_run_rolls_back_its_window) {
    EXPECT_ANY_THROW(in_tx([&](Tx& tx) {
        order.run(tx, jane, []() -> RideId { throw std::runtime_error{"no seat"}; });
    }));

    EXPECT_TRUE(book(jane).first);
}

TEST_P(OncePerWindowTest, a_stored_result_comes_back_whole) {
    const auto run = [&] {
        return in_tx([&](Tx& tx) {
            return order.run(tx, jane, [] { return Booked{{7}, "to the \"moon\"\n"}; });
        });
    };
    run();

    const auto again = run();

    EXPECT_FALSE(again.first);
    EXPECT_EQ(again.value.ride.value, 7);
    EXPECT_EQ(again.value.note, "to the \"moon\"\n");
}

TEST_P(OncePerWindowTest, a_result_that_another_binary_stored_with_another_type_is_reported) {
    in_tx([&](Tx& tx) { order.run(tx, jane, [] { return std::string{"seven"}; }); });

    try {
        book(jane);
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string{error.what()}.find("'order'"), std::string::npos) << error.what();
    }
}

TEST_P(OncePerWindowTest, values_out_of_its_bounds_are_named) {
    const auto run = [&](OncePerWindow once, std::size_t size) {
        in_tx([&](Tx& tx) { once.run(tx, jane, [&] { return std::string(size, 'x'); }); });
    };

    EXPECT_THROW(run({.action = "", .window = 5s}, 1), std::invalid_argument);
    EXPECT_THROW(run({.action = "order", .window = 0s}, 1), std::invalid_argument);
    EXPECT_THROW(run({.action = "order", .window = 24h + 1ms}, 1), std::invalid_argument);
    EXPECT_THROW(run({.action = "order", .window = 5s}, 64 * 1024 - 1), std::invalid_argument);
    EXPECT_NO_THROW(run({.action = "order", .window = 24h}, 64 * 1024 - 2));
}

TEST_P(OncePerWindowTest, a_clock_that_was_far_ahead_does_not_keep_a_window_forever) {
    clock.advance(365 * 24h);
    book(jane);
    clock.advance(-365 * 24h);

    EXPECT_TRUE(book(jane).first);
}

TEST_P(OncePerWindowTest, the_reaper_deletes_ended_windows) {
    ops::Reaper reaper{*store, clock, {}};
    book(jane);
    book({"rides", "joe"});
    clock.advance(5s);
    EXPECT_EQ(reaper.run_once(clock.now()).windows_forgotten, 0);
    book({"rides", "ann"});
    clock.advance(1ms);

    EXPECT_EQ(reaper.run_once(clock.now()).windows_forgotten, 2);

    EXPECT_FALSE(book({"rides", "ann"}).first);
    EXPECT_TRUE(book(jane).first);
}

TEST_P(FencedTest, a_lower_epoch_is_refused_once_a_higher_one_wrote) {
    EXPECT_EQ(pass("report", 7), std::nullopt);
    EXPECT_EQ(pass("report", 7), std::nullopt) << "its holder may write often";
    EXPECT_EQ(pass("report", 9), std::nullopt);

    EXPECT_EQ(pass("report", 8), 9);
    EXPECT_EQ(pass("report", 7), 9);
    EXPECT_EQ(pass("report", 9), std::nullopt);
    EXPECT_EQ(note_count(), 4);
}

TEST_P(FencedTest, each_name_has_its_own_epochs) {
    EXPECT_EQ(pass("report", 9), std::nullopt);

    EXPECT_EQ(pass("mails", 1), std::nullopt);
}

TEST_P(FencedTest, a_rolled_back_epoch_was_not_seen) {
    EXPECT_ANY_THROW(in_tx([&](Tx& tx) {
        check_fencing_token(tx, FencingToken::received("report", 9));
        throw std::runtime_error{"after all"};
    }));

    EXPECT_EQ(pass("report", 1), std::nullopt);
}

TEST_P(FencedTest, a_phase_that_does_not_catch_it_is_rolled_back) {
    pass("report", 9);

    EXPECT_THROW(
        in_tx([&](Tx& tx) {
            execute(tx, notes::insert, "by the old one");
            check_fencing_token(tx, FencingToken::received("report", 8));
        }),
        StaleFencingToken
    );

    EXPECT_EQ(note_count(), 1);
}

TEST_P(TxLockTest, a_lock_may_be_taken_again_in_the_same_transaction) {
    in_tx(
        [&](Tx& tx) {
            tx_lock(tx, "seats");
            tx_lock(tx, "seats", 0ms);
            EXPECT_TRUE(try_tx_lock(tx, "seats"));
            execute(tx, notes::insert, "under it");
        },
        Isolation::read_committed
    );

    EXPECT_EQ(note_count(), 1);
}

TEST_P(TxLockTest, a_snapshot_older_than_the_lock_is_refused_on_every_store) {
    EXPECT_THROW(in_tx([](Tx& tx) { tx_lock(tx, "seats"); }), std::logic_error);
    EXPECT_THROW(in_tx([](Tx& tx) { (void)try_tx_lock(tx, "seats"); }), std::logic_error);

    EXPECT_NO_THROW(in_tx([](Tx& tx) { tx_lock(tx, "seats"); }, Isolation::serializable));
}

TEST_P(TxLockTest, a_name_out_of_bounds_is_refused) {
    for (const auto& name : {std::string{}, std::string(201, 'x'), std::string{"a\0b", 3}})
        EXPECT_THROW(
            in_tx([&](Tx& tx) { tx_lock(tx, name); }, Isolation::read_committed),
            std::invalid_argument
        ) << name.size();
}

}  // namespace pawl::conformance
