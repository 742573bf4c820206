#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/engine/tx_factory.hpp"
#include "tests/conformance/each_store.hpp"

#include <limits>

// The properties of a transaction, on each store.
namespace pawl::conformance {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

class SessionTest : public OnEachStore {
protected:
    // Runs f in a Tx, as a phase has it.
    template <class F>
    void in_tx(F f) {
        write_now(*store, [&](Session& session) {
            detail::TxFactory::with_tx({session, base::system_random()}, f);
        });
    }
};
PAWL_ON_EACH_STORE(SessionTest);

constexpr auto insert_numbers =
    on_all<2>("insert_numbers", "INSERT INTO notes (number, real) VALUES ($1, $2)");
constexpr Sql select_numbers =
    on_all("select_numbers", "SELECT number, real FROM notes ORDER BY id");

struct Numbers {
    std::optional<std::int64_t> number;
    std::optional<double> real;
};

}  // namespace

TEST_P(SessionTest, whole_numbers_of_64_bits_survive_a_round_trip) {
    using Limits = std::numeric_limits<std::int64_t>;
    const std::vector<std::int64_t> values{Limits::min(), -1, 0, 1, Limits::max()};

    for (const auto value : values) write_one(*store, insert_numbers, value, 0.0);

    const auto found = read_rows<Numbers>(*store, select_numbers);
    ASSERT_EQ(found.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(found[i].number, values[i]);
}

TEST_P(SessionTest, real_numbers_come_back_bit_by_bit) {
    using Limits = std::numeric_limits<double>;
    const std::vector<double> values{
        Limits::lowest(), Limits::denorm_min(), 0.1, 1.0, 1e300, Limits::max(), Limits::infinity()};

    for (const auto value : values) write_one(*store, insert_numbers, 0, value);

    const auto found = read_rows<Numbers>(*store, select_numbers);
    ASSERT_EQ(found.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(found[i].real, values[i]);
}

TEST_P(SessionTest, nan_is_refused_before_it_is_stored_as_null) {
    const auto nan = std::numeric_limits<double>::quiet_NaN();

    const auto error = error_of([&] { write_one(*store, insert_numbers, 0, nan); });

    EXPECT_EQ(error.kind(), Kind::statement);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, null_is_nullopt_and_an_empty_text_is_not_null) {
    write_one(*store, insert_numbers, std::optional<std::int64_t>{}, std::optional<double>{});
    write_one(*store, notes::insert, std::string_view{});

    const auto numbers = read_rows<Numbers>(*store, select_numbers);
    const auto texts = read_rows<std::optional<std::string>>(*store, notes::texts);
    EXPECT_FALSE(numbers.at(0).number);
    EXPECT_FALSE(numbers.at(0).real);
    EXPECT_FALSE(texts.at(0));
    EXPECT_EQ(texts.at(1), "");
}

TEST_P(SessionTest, texts_survive_a_round_trip_whatever_their_quotes_and_length) {
    const std::vector<std::string> values{
        "it's $1 \"quoted\" \\x41", "é 漢 🚲", std::string(2'000'000, 'x')};

    for (const auto& value : values) write_one(*store, notes::insert, value);

    EXPECT_EQ(read_rows<std::string>(*store, notes::texts), values);
}

// PostgreSQL's texts are UTF-8 without NUL: other bytes are refused, never changed.
TEST_P(SessionTest, texts_with_zeros_or_any_byte_come_back_whole_or_are_refused) {
    using namespace std::string_literals;
    for (const auto& value : {"a\0b"s, "\0"s, "\xff\xfe"s}) {
        if (is_postgres(GetParam())) {
            const auto error = error_of([&] { write_one(*store, notes::insert, value); });
            EXPECT_EQ(error.kind(), Kind::statement);
            EXPECT_EQ(note_count(), 0);
        } else {
            write_one(*store, notes::insert, value);
            EXPECT_EQ(read_rows<std::string>(*store, notes::texts).back(), value);
        }
    }
}

TEST_P(SessionTest, bytes_survive_a_round_trip) {
    using Blob = std::vector<std::byte>;
    constexpr Statement<1> echo{"echo_bytes", "SELECT $1", "SELECT $1::bytea"};
    Blob every(256);
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::byte>(i);

    for (const auto& value : {Blob{}, Blob{std::byte{0}}, every})
        EXPECT_EQ(read_rows<Blob>(*store, echo, value).at(0), value);
    EXPECT_FALSE(read_rows<std::optional<Blob>>(*store, echo, std::optional<Blob>{}).at(0));
}

// SQLite has no decimal type: a NUMERIC column would make 12.3 of it
// (pawl/tx.hpp).
TEST_P(SessionTest, a_numeric_is_a_text_with_all_its_digits) {
    constexpr Statement<1> echo{"echo_numeric", "SELECT $1", "SELECT $1::numeric(30, 2)"};

    EXPECT_EQ(
        read_rows<std::string>(*store, echo, "9007199254740993.30").at(0), "9007199254740993.30"
    );
}

TEST_P(SessionTest, a_column_of_another_type_is_refused_and_names_its_statement) {
    constexpr Sql bytes{"select_bytes", "SELECT x'00ff'", "SELECT '\\x00ff'::bytea"};
    constexpr Sql word = on_all("select_word", "SELECT 'word'");
    constexpr Sql nothing = on_all("select_nothing", "SELECT NULL");

    for (const auto& error :
         {error_of([&] { read_rows<std::string>(*store, bytes); }),
          error_of([&] { read_rows<std::int64_t>(*store, word); }),
          error_of([&] { read_rows<double>(*store, word); }),
          error_of([&] { read_rows<std::vector<std::byte>>(*store, word); }),
          error_of([&] { read_rows<std::string>(*store, nothing); })}) {
        EXPECT_EQ(error.kind(), Kind::statement);
        EXPECT_TRUE(error.statement().starts_with("select_")) << error.statement();
    }
}

TEST_P(SessionTest, a_missing_column_is_refused) {
    constexpr Sql one = on_all("select_one", "SELECT 1");

    const auto error = error_of([&] {
        read_now(*store, [&](Session& session) {
            session.run(one, {}, [](const store::Row& row) { (void)row.integer(1); });
        });
    });

    EXPECT_EQ(error.kind(), Kind::statement);
}

TEST_P(SessionTest, parameters_are_bound_by_their_numbers_whatever_their_order) {
    constexpr Statement<3> mixed{
        "mixed", "SELECT $3 || $1 || $3 || $2", "SELECT $3::text || $1::text || $3 || $2::text"};

    EXPECT_EQ(read_rows<std::string>(*store, mixed, "a", "b", "c").at(0), "cacb");
}

TEST_P(SessionTest, a_work_that_throws_leaves_nothing) {
    EXPECT_THROW(
        write_now(
            *store,
            [](Session& session) {
                change(session, notes::insert, "a");
                throw std::runtime_error{"after all"};
            }
        ),
        std::runtime_error
    );

    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, a_constraint_names_its_statement_and_is_permanent) {
    write_one(*store, notes::insert, "a");

    const auto error = error_of([&] { write_one(*store, notes::insert, "a"); });

    EXPECT_EQ(error.kind(), Kind::constraint);
    EXPECT_EQ(error.statement(), "insert_note");
    EXPECT_FALSE(error.transient());
    EXPECT_EQ(note_count(), 1);
}

TEST_P(SessionTest, after_a_failed_statement_nothing_else_runs) {
    std::optional<StoreError> second;

    const auto first = error_of([&] {
        write_now(*store, [&](Session& session) {
            change(session, notes::insert, "a");
            try {
                change(session, notes::insert, "a");
            } catch (const StoreError&) {
                second = error_of([&] { change(session, notes::insert, "b"); });
                throw;
            }
        });
    });

    EXPECT_EQ(first.kind(), Kind::constraint);
    EXPECT_EQ(second->kind(), Kind::refused);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, a_work_that_swallows_a_failed_statement_is_rolled_back) {
    const auto error = error_of([&] {
        write_now(*store, [&](Session& session) {
            change(session, notes::insert, "a");
            (void)error_of([&] { change(session, notes::insert, "a"); });
        });
    });

    EXPECT_EQ(error.kind(), Kind::refused);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, attempt_rolls_back_a_failure_and_the_phase_goes_on) {
    std::optional<StoreError> failed;

    in_tx([&](Tx& tx) {
        execute(tx, notes::insert, "before");
        failed = tx.attempt([&] {
            execute(tx, notes::insert, "within");
            execute(tx, notes::insert, "before");
        });
        execute(tx, notes::insert, "after");
    });

    EXPECT_EQ(failed->kind(), Kind::constraint);
    EXPECT_EQ(
        read_rows<std::string>(*store, notes::texts), (std::vector<std::string>{"before", "after"})
    );
}

// A store that batches statements once dropped, with the attempt, those queued before it.
TEST_P(SessionTest, an_attempt_that_throws_before_any_answer_rolls_back_only_its_own) {
    in_tx([&](Tx& tx) {
        send(tx, notes::insert, "before");
        try {
            (void)tx.attempt([&] {
                send(tx, notes::insert, "within");
                throw std::runtime_error{"of the phase"};
            });
        } catch (const std::runtime_error&) {
        }
        send(tx, notes::insert, "after");
    });

    EXPECT_EQ(
        read_rows<std::string>(*store, notes::texts), (std::vector<std::string>{"before", "after"})
    );
}

TEST_P(SessionTest, attempts_nest) {
    in_tx([&](Tx& tx) {
        const auto outer = tx.attempt([&] {
            execute(tx, notes::insert, "outer");
            const auto inner = tx.attempt([&] { execute(tx, notes::insert, "outer"); });
            EXPECT_TRUE(inner);
            execute(tx, notes::insert, "outer too");
        });
        EXPECT_FALSE(outer);
    });

    EXPECT_EQ(note_count(), 2);
}

// Nothing is sent between the ends of the inner and the outer attempt.
TEST_P(SessionTest, an_outer_attempt_rolls_back_all_right_after_an_inner_one) {
    struct Declined {};
    for (const auto* inner : {"outer", "inner"}) {  // One that fails, and one that does not.
        in_tx([&](Tx& tx) {
            try {
                (void)tx.attempt([&] {
                    execute(tx, notes::insert, "outer");
                    (void)tx.attempt([&] { execute(tx, notes::insert, inner); });
                    throw Declined{};
                });
            } catch (const Declined&) {
                execute(tx, notes::insert, std::string{"behind "} + inner);
            }
        });
    }

    EXPECT_EQ(
        read_rows<std::string>(*store, notes::texts),
        (std::vector<std::string>{"behind outer", "behind inner"})
    );
}

// A store that batches statements once reported it to the attempt, as if it were its own.
TEST_P(SessionTest, a_statement_sent_before_an_attempt_fails_before_it) {
    in_tx([&](Tx& tx) { execute(tx, notes::insert, "a"); });
    bool began = false;

    const auto error = error_of([&] {
        in_tx([&](Tx& tx) {
            send(tx, notes::insert, "a");
            (void)tx.attempt([&] {
                began = true;
                execute(tx, notes::insert, "b");
            });
        });
    });

    EXPECT_FALSE(began);
    EXPECT_EQ(error.kind(), Kind::constraint);
    EXPECT_EQ(note_count(), 1);
}

TEST_P(SessionTest, attempt_passes_other_errors_on_and_the_phase_is_rolled_back) {
    constexpr auto wrong = on_all<0>("wrong", "SELECT * FROM no_such_table");

    const auto error = error_of([&] {
        in_tx([&](Tx& tx) {
            execute(tx, notes::insert, "a");
            (void)tx.attempt([&] { execute(tx, wrong); });
        });
    });

    EXPECT_EQ(error.kind(), Kind::statement);
    EXPECT_EQ(error.statement(), "wrong");
    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, statements_that_end_or_escape_the_transaction_are_refused) {
    std::vector<const char*> texts{
        "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT mine", "RELEASE work", "ROLLBACK TO work"};
    const std::vector<const char*> of_sqlite{
        "ATTACH ':memory:' AS other", "DETACH main", "PRAGMA synchronous = OFF"};
    const std::vector<const char*> of_postgres{
        "START TRANSACTION",
        "END",
        "SET search_path = other",
        "RESET ALL",
        "LISTEN jobs",
        "DISCARD ALL",
        "PREPARE other AS SELECT 1",
        "PREPARE TRANSACTION 'other'"};
    const auto& more = is_postgres(GetParam()) ? of_postgres : of_sqlite;
    texts.insert(texts.end(), more.begin(), more.end());
    for (const auto* text : texts) {
        const Sql forbidden{"forbidden", text, text};

        const auto error = error_of([&] {
            write_now(*store, [&](Session& session) {
                change(session, notes::insert, text);
                change(session, forbidden);
            });
        });

        EXPECT_EQ(error.kind(), Kind::refused) << text;
        EXPECT_EQ(note_count(), 0) << text;
    }
}

TEST_P(SessionTest, a_script_is_rolled_back_as_a_whole_and_may_not_commit) {
    constexpr Sql broken =
        on_all("broken", "CREATE TABLE half (a INTEGER); INSERT INTO nowhere VALUES (1);");
    constexpr Sql sly = on_all("sly", "CREATE TABLE half (a INTEGER); COMMIT; BEGIN;");
    constexpr Sql tables{
        "tables",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'half'",
        "SELECT count(*) FROM pg_tables WHERE tablename = 'half'"};

    for (const auto* script : {&broken, &sly}) {
        const auto error = error_of([&] {
            write_now(*store, [&](Session& session) { session.run_script(*script); });
        });

        EXPECT_EQ(error.statement(), script->name);
        EXPECT_EQ(read_rows<int>(*store, tables).at(0), 0) << script->name;
    }
}

TEST_P(SessionTest, a_name_must_have_exactly_one_statement) {
    constexpr Sql two = on_all(
        "two", "INSERT INTO notes (text) VALUES ('a'); INSERT INTO notes (text) VALUES ('b')"
    );
    constexpr Sql none = on_all("none", "-- nothing");
    constexpr Sql commented = on_all("commented", "SELECT 1; -- and no more\n");
    constexpr Sql missing{"missing", {}, {}};

    EXPECT_EQ(error_of([&] { write_one(*store, two); }).kind(), Kind::statement);
    EXPECT_EQ(error_of([&] { write_one(*store, none); }).kind(), Kind::statement);
    EXPECT_EQ(error_of([&] { write_one(*store, missing); }).statement(), "missing");
    EXPECT_EQ(read_rows<int>(*store, commented).at(0), 1);
    EXPECT_EQ(note_count(), 0);
}

TEST_P(SessionTest, a_statement_returns_only_its_own_number_of_changed_rows) {
    constexpr Sql all = on_all("change_all", "UPDATE notes SET number = 1");
    constexpr Sql table = on_all("create_more", "CREATE TABLE more (a INTEGER)");

    write_now(*store, [&](Session& session) {
        EXPECT_EQ(change(session, notes::insert, "a"), 1);
        EXPECT_EQ(change(session, notes::insert, "b"), 1);
        EXPECT_EQ(change(session, all), 2);
        EXPECT_EQ(change(session, table), 0);
        EXPECT_EQ(change(session, notes::count), 0);
    });
}

TEST_P(SessionTest, a_violated_deferred_foreign_key_fails_only_its_own_work) {
    constexpr Sql tables{
        "tables",
        "CREATE TABLE child (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED) "
        "STRICT",
        "CREATE TABLE child (note BIGINT REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)"};
    constexpr auto insert_child = on_all<1>("insert_child", "INSERT INTO child VALUES ($1)");
    constexpr Sql children = on_all("children", "SELECT count(*) FROM child");
    write_one(*store, tables);

    const auto error = error_of([&] { write_one(*store, insert_child, 77); });
    write_now(*store, [&](Session& session) {
        change(session, insert_child, 1);
        change(session, notes::insert, "the parent, in time");
    });

    EXPECT_EQ(error.kind(), Kind::constraint);
    EXPECT_EQ(error.effect(), Effect::rolled_back);
    EXPECT_EQ(read_rows<int>(*store, children).at(0), 1);
}

TEST_P(SessionTest, the_clock_of_a_session_is_the_one_that_the_store_was_given) {
    const auto before = read_now(*store, [](Session& session) { return session.now(); });

    clock.advance(3h);

    EXPECT_EQ(before + 3h, read_now(*store, [](Session& session) { return session.now(); }));
    EXPECT_EQ(before + 3h, write_now(*store, [](Session& session) { return session.now(); }));
}

TEST_P(SessionTest, a_statement_has_the_text_of_this_store_or_none) {
    constexpr Sql of_sqlite{"elsewhere", "SELECT 1", {}};
    constexpr Sql of_postgres{"elsewhere", {}, "SELECT 1"};
    const bool postgres = is_postgres(GetParam());
    const auto& elsewhere = postgres ? of_sqlite : of_postgres;

    EXPECT_EQ(
        store->text_of(sql::take_over), postgres ? sql::take_over.postgres : sql::take_over.sqlite
    );
    EXPECT_EQ(store->text_of(elsewhere), "");
    for (const Sql* statement : sql::all)
        EXPECT_NE(store->text_of(*statement), "") << statement->name;
}

}  // namespace pawl::conformance
