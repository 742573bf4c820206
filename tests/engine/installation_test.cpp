#include "src/json/hash.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <fstream>

namespace pawl::testing {
namespace {

// What all nodes of one database share, and what stays the same over restarts and new secrets.
class InstallationTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute(std::string{shop_tables});
        world.execute(std::string{payment_tables});
    }
    engine::Installation open(const std::string& secret_file = "") {
        return engine::open_installation(
            world.store, world.clock, base::system_random(), secret_file
        );
    }
    std::string file(const std::string& name, const std::string& line) {
        const auto path = (folder.path() / name).string();
        std::ofstream{path} << line << "\n";
        return path;
    }
    void start_shop(const std::string& secret_file) {
        world.secret_file = secret_file;
        world.restart();
        world.add(Order{provider});
    }
    // With a fingerprint made with the secret, as in HTTP.
    Answer ask(const std::string& json) {
        auto made = world.request<Order>("k", json);
        set_fingerprint(made, made.params, world.engine->installation());
        std::promise<Answer> ended;
        world.engine->handle(std::move(made), [&](Answer answer) {
            ended.set_value(std::move(answer));
        });
        return World::get(ended.get_future());
    }
    std::int64_t secrets_in_database() {
        return world.number("SELECT count(*) FROM pawl_installation_secrets");
    }
    std::int64_t clear_copies_of(const std::string& secret) {
        return world.number(
            "SELECT count(*) FROM pawl_installation_secrets WHERE secret = '" + secret + "'"
        );
    }
    std::int64_t verifiers_in_database() {
        return world.number("SELECT count(*) FROM pawl_installation_secret_verifiers");
    }
    TempFolder folder;
    Provider provider;
    World world;
    const std::string old_secret = std::string(32, 'o');
    const std::string new_secret = std::string(32, 'n');
};

TEST_F(InstallationTest, is_made_once_and_found_by_all) {
    const auto first = open();
    const auto second = open();

    EXPECT_EQ(first.name.size(), 32U);
    EXPECT_EQ(first.secret().size(), 64U);
    EXPECT_EQ(second.name, first.name);
    EXPECT_EQ(second.secrets, first.secrets);
}

TEST_F(InstallationTest, differs_between_two_databases) {
    World another;
    const auto there =
        engine::open_installation(another.store, another.clock, base::system_random(), "");

    EXPECT_NE(there.name, open().name);
    EXPECT_NE(there.secret(), open().secret());
}

// A copy of the database may be a backup or a stolen file.
TEST_F(InstallationTest, the_secret_of_a_file_is_not_in_the_database) {
    const auto installation = open(file("secret", new_secret));

    EXPECT_EQ(installation.secret(), new_secret);
    EXPECT_EQ(clear_copies_of(new_secret), 0);
    EXPECT_EQ(verifiers_in_database(), 1);
    EXPECT_EQ(
        world.number(
            "SELECT count(*) FROM pawl_installation_secret_verifiers WHERE verifier LIKE '%" +
            new_secret + "%'"
        ),
        0
    );
    EXPECT_EQ(open(file("secret", new_secret)).secret_version(), installation.secret_version());
    EXPECT_EQ(verifiers_in_database(), 1);
}

// As 0.1.0 left it (issue 16, number 9).
TEST_F(InstallationTest, a_clear_copy_of_the_files_secret_is_removed_and_keeps_its_version) {
    const auto made = open();
    world.execute(
        "INSERT INTO pawl_installation_secrets VALUES (2, '" + old_secret +
        "', '2027-01-15T08:00:00Z')"
    );

    const auto after = open(file("secret", old_secret));

    EXPECT_EQ(after.secret_version(), 2);
    EXPECT_EQ(after.secret(), old_secret);
    EXPECT_EQ(after.secrets.at(1), made.secret());
    EXPECT_EQ(secrets_in_database(), 1);  // The one made here.
}

// A server of 0.1.0 does not find its file's secret in the database, and stores it again.
TEST_F(InstallationTest, a_clear_copy_that_comes_back_is_removed_again) {
    const auto before = open(file("secret", old_secret));
    world.execute(
        "INSERT INTO pawl_installation_secrets VALUES (" + std::to_string(before.secret_version()) +
        ", '" + old_secret + "', '2027-01-15T08:00:00Z')"
    );

    const auto after = open(file("secret", old_secret));

    EXPECT_EQ(after.secret_version(), before.secret_version());
    EXPECT_EQ(clear_copies_of(old_secret), 0);
    EXPECT_EQ(verifiers_in_database(), 1);
}

TEST_F(InstallationTest, without_its_file_the_secret_is_unknown_and_tools_go_on) {
    const auto before = open(file("secret", new_secret));

    const auto without = open();

    EXPECT_EQ(without.name, before.name);
    EXPECT_EQ(without.secret_version(), before.secret_version());
    EXPECT_FALSE(without.knows_secret());
    EXPECT_THROW((void)without.secret(), std::runtime_error);
}

TEST_F(InstallationTest, older_secrets_follow_the_one_in_use) {
    const auto before = open(file("secret", old_secret));
    const auto both = open(file("secret", new_secret + "\n" + old_secret));

    EXPECT_EQ(both.secret(), new_secret);
    EXPECT_EQ(both.secret_version(), before.secret_version() + 1);
    EXPECT_EQ(both.secrets.at(before.secret_version()), old_secret);

    // The first step of a rotation: known, but not in use.
    const auto first_step = open(file("secret", old_secret + "\n" + new_secret));
    EXPECT_EQ(first_step.secret(), old_secret);
    EXPECT_EQ(first_step.secrets, both.secrets);
}

TEST_F(InstallationTest, a_new_secret_in_the_file_is_the_newest_and_one_made_here_stays) {
    const auto before = open();
    const auto after = open(file("secret", new_secret));

    EXPECT_EQ(after.secret(), new_secret);
    EXPECT_EQ(after.secret_version(), before.secret_version() + 1);
    EXPECT_EQ(after.secrets.at(before.secret_version()), before.secret());
    EXPECT_EQ(open(file("secret", new_secret)).secret_version(), after.secret_version());
}

TEST_F(InstallationTest, a_secret_that_is_short_or_missing_is_refused_and_changes_nothing) {
    const auto before = open();

    EXPECT_THROW((void)open(file("short", std::string(31, 'x'))), std::runtime_error);
    EXPECT_THROW((void)open(file("empty", "")), std::runtime_error);
    EXPECT_THROW((void)open((folder.path() / "none").string()), std::runtime_error);
    EXPECT_THROW((void)open(file("crlf", new_secret + "\r")), std::runtime_error);
    EXPECT_THROW((void)open(file("second", new_secret + "\nshort")), std::runtime_error);

    EXPECT_EQ(open().secrets, before.secrets);
}

TEST_F(InstallationTest, a_repeat_is_known_by_the_secret_that_its_key_was_stored_under) {
    start_shop(file("old", old_secret));
    const auto first = ask(order_of_jane);
    ASSERT_EQ(status_of(first), 201);
    start_shop(file("new", new_secret + "\n" + old_secret));

    EXPECT_EQ(body_of(ask(order_of_jane)), body_of(first));
    EXPECT_EQ(why_of(ask(R"({"customer":"joe","items":[]})")), Reason::key_reused);
    EXPECT_EQ(provider.keys.size(), 1U);
}

// Issue 38, part 3: it was key-reused, and the client would have paid again under a new key.
TEST_F(InstallationTest, a_repeat_whose_secret_is_missing_is_of_another_server) {
    start_shop(file("old", old_secret));
    ASSERT_EQ(status_of(ask(order_of_jane)), 201);
    start_shop(file("new", new_secret));

    const auto repeat = ask(order_of_jane);
    ASSERT_EQ(why_of(repeat), Reason::other_server);
    EXPECT_EQ(std::get<Rejection>(repeat).code, "PAWL0024");
    EXPECT_TRUE(engine::may_succeed_later(Reason::other_server));
    EXPECT_EQ(why_of(ask(R"({"customer":"joe","items":[]})")), Reason::other_server);
    EXPECT_EQ(provider.keys.size(), 1U);

    start_shop(file("both", new_secret + "\n" + old_secret));
    EXPECT_TRUE(replayed(ask(order_of_jane)));
}

TEST_F(InstallationTest, an_inspection_uses_the_first_line_and_records_nothing) {
    const auto before = open(file("old", old_secret));
    (void)open(file("first step", old_secret + "\n" + new_secret));

    const auto found = engine::inspect_installation(
        world.store, file("typo", std::string(32, 'x') + "\n" + old_secret)
    );

    EXPECT_EQ(found.secret_version(), before.secret_version());
    EXPECT_EQ(found.new_secrets, 1);
    EXPECT_EQ(verifiers_in_database(), 2);
}

TEST_F(InstallationTest, no_secret_goes_into_the_key_of_a_call) {
    start_shop(file("old", old_secret));
    provider.next({Does::doubt_charged});
    (void)ask(order_of_jane);
    // As if the row was lost and made anew under another secret: it must not cause a new charge
    // (F5).
    world.execute("DELETE FROM pawl_idempotency_keys");
    world.execute("DELETE FROM pawl_key_registry");
    world.execute("DELETE FROM orders");
    world.execute("UPDATE sqlite_sequence SET seq = 700 WHERE name = 'pawl_key_registry'");
    start_shop(file("new", new_secret));

    EXPECT_EQ(status_of(ask(order_of_jane)), 201);

    ASSERT_EQ(provider.keys.size(), 2U);
    EXPECT_EQ(provider.keys[0], provider.keys[1]);
    EXPECT_EQ(world.number("SELECT id FROM pawl_idempotency_keys"), 701);
}

}  // namespace
}  // namespace pawl::testing
