#include "tests/conformance/each_store.hpp"

#include <array>

// Lookups: one statement each, many at once.
namespace pawl::conformance {

namespace {

using Kind = StoreError::Kind;
using Texts = std::vector<std::string>;

constexpr Sql by_text = on_all("note_by_text", "SELECT text FROM notes WHERE text = $1");
constexpr Sql no_table = on_all("no_table", "SELECT text FROM nowhere WHERE text = $1");

struct Seen {
    std::exception_ptr failed;
    Texts texts;
    TimePoint now;
    // nullopt: no error.
    std::optional<StoreError> error() const {
        try {
            if (failed) std::rethrow_exception(failed);
        } catch (const StoreError& error) {
            return error;
        }
        return std::nullopt;
    }
};

class TextLook final : public store::Lookup {
public:
    TextLook(const Sql& statement, std::string text, std::promise<Seen> promise, int column)
        : statement_{statement},
          text_{std::move(text)},
          promise_{std::move(promise)},
          column_{column} {}
    const Sql& statement() const override { return statement_; }
    std::span<const store::Value> parameters() const override { return value_; }
    void row(const store::Row& row) override { seen_.texts.emplace_back(row.text(column_)); }
    void done(std::exception_ptr failed, TimePoint now) noexcept override {
        seen_.failed = std::move(failed);
        seen_.now = now;
        promise_.set_value(std::move(seen_));
    }

private:
    const Sql& statement_;
    std::string text_;
    std::promise<Seen> promise_;
    int column_;
    std::array<store::Value, 1> value_{std::string_view{text_}};
    Seen seen_;
};

class LooksTest : public OnEachStore {
protected:
    std::future<Seen> look(
        const std::string& text, const Sql& statement = by_text, int column = 0
    ) {
        std::promise<Seen> promise;
        auto seen = promise.get_future();
        store->lookup(std::make_unique<TextLook>(statement, text, std::move(promise), column));
        return seen;
    }
};
PAWL_ON_EACH_STORE(LooksTest);

}  // namespace

TEST_P(LooksTest, finds_only_existing_rows) {
    write_one(*store, notes::insert, "a");

    const auto there = look("a").get();
    const auto gone = look("b").get();

    EXPECT_FALSE(there.failed);
    EXPECT_EQ(there.texts, Texts{"a"});
    EXPECT_EQ(there.now, clock.now());
    EXPECT_FALSE(gone.failed);
    EXPECT_TRUE(gone.texts.empty());
}

TEST_P(LooksTest, sees_earlier_commits) {
    for (int i = 0; i < 50; ++i) {
        write_one(*store, notes::insert, std::to_string(i));

        ASSERT_EQ(look(std::to_string(i)).get().texts.size(), 1);
    }
}

TEST_P(LooksTest, each_of_many_gets_its_rows_and_a_failing_one_affects_no_other) {
    constexpr int notes = 200;
    write_now(*store, [](Session& session) {
        for (int i = 0; i < notes; ++i) change(session, notes::insert, std::to_string(i));
    });
    std::vector<std::future<Seen>> looks;

    for (int i = 0; i < notes; ++i) {
        if (i % 50 == 10)
            looks.push_back(look(std::to_string(i), no_table));
        else
            looks.push_back(look(std::to_string(i), by_text, i % 50 == 20 ? 7 : 0));
    }

    for (int i = 0; i < notes; ++i) {
        const auto seen = looks[static_cast<std::size_t>(i)].get();
        if (i % 50 == 10 || i % 50 == 20) {
            ASSERT_TRUE(seen.error()) << i;
            EXPECT_EQ(seen.error()->kind(), Kind::statement) << i;
        } else {
            EXPECT_FALSE(seen.error()) << i;
            EXPECT_EQ(seen.texts, Texts{std::to_string(i)});
        }
    }
}

TEST_P(LooksTest, a_parameter_that_cannot_be_sent_fails_only_its_own_lookup) {
    write_one(*store, notes::insert, "a");
    const std::string with_nul{"a\0b", 3};

    auto before = look("a");
    auto wrong = look(with_nul);
    auto after = look("a");

    EXPECT_EQ(before.get().texts, Texts{"a"});
    const auto seen = wrong.get();
    EXPECT_EQ(seen.error().has_value(), is_postgres(GetParam()));  // The others can run it.
    EXPECT_EQ(after.get().texts, Texts{"a"});
}

TEST_P(LooksTest, after_the_stop_of_the_store_it_is_refused) {
    store->stop();

    EXPECT_EQ(look("a").get().error()->kind(), Kind::unavailable);
}

}  // namespace pawl::conformance
