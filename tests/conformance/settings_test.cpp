#include "src/ops/servers.hpp"
#include "src/ops/settings_watch.hpp"
#include "store/doctor.hpp"
#include "tests/conformance/key_world.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

// What servers show each other of their settings and secrets, on each store (issue 38, part 3).
namespace pawl::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct InUse {
    int version{};
    int recorded{};
};
struct KeysOfSecret {
    int version{};
    std::int64_t open{};
    std::int64_t finished{};
};
constexpr auto set_secret_version = on_all<2>(
    "set_secret_version", "UPDATE pawl_idempotency_keys SET secret_version = $2 WHERE id = $1"
);

class SettingsTest : public KeyTest {
protected:
    // `one` is started last, so that the engine's server is `one`.
    void start_both() {
        other.start();
        other_id = store->server().value();
        one.start();
    }
    void show_of_other(const core::Settings& settings) {
        run(sql::set_server_settings, other_id, engine::to_text(settings));
    }
    std::vector<std::string> differences() {
        std::vector<std::string> lines;
        for (const auto& each : watch.differences()) lines.push_back(ops::text_of(each));
        return lines;
    }
    engine::Installation open(const std::string& secret_file = "") {
        return engine::open_installation(*store, clock, base::system_random(), secret_file);
    }
    std::string in_use() {
        std::string text;
        for (const auto& [version, recorded] : read_rows<InUse>(*store, sql::find_secret_in_use))
            text += std::to_string(version) + (recorded != 0 ? " recorded" : " newest");
        return text;
    }

    engine::Engine engine{{*store, clock, base::system_random()}, {}, open()};
    ops::SettingsWatch watch{engine};
    ops::Servers one{*store, clock, {}};
    ops::Servers other{*store, clock, {}};
    std::int64_t other_id{};
};
PAWL_ON_EACH_STORE(SettingsTest);

}  // namespace

TEST_P(SettingsTest, a_server_finds_where_others_that_run_have_other_values) {
    watch.add("lease", "30000 ms");
    start_both();
    EXPECT_THAT(differences(), IsEmpty()) << "a server of a release before shows none";
    show_of_other({{"lease", "60000 ms"}, {"unknown", "here"}});

    EXPECT_THAT(
        differences(),
        ElementsAre(
            R"(lease is "30000 ms" here and "60000 ms" in server )" + std::to_string(other_id)
        )
    );
}

TEST_P(SettingsTest, a_server_shows_its_settings_and_later_changes_in_its_row) {
    std::string value = "a";
    watch.add("operators", [&] { return value; });
    start_both();
    const auto shown = [&] {
        return read_rows<std::string>(
            *store, on_all("shown", "SELECT settings FROM pawl_servers WHERE settings IS NOT NULL")
        );
    };

    watch.run_once();
    EXPECT_THAT(shown(), ElementsAre(HasSubstr(R"({"name":"operators","value":"a"})")));
    value = "b";
    watch.run_once();

    EXPECT_THAT(shown(), ElementsAre(HasSubstr(R"({"name":"operators","value":"b"})")));
}

TEST_P(SettingsTest, settings_that_do_not_decode_are_none) {
    watch.add("lease", "30000 ms");
    start_both();
    run(sql::set_server_settings, other_id, std::string{"{"});

    EXPECT_THAT(differences(), IsEmpty());
}

TEST_P(SettingsTest, a_start_without_the_secret_that_a_running_server_uses_is_refused) {
    start_both();
    show_of_other({{std::string{engine::secret_version_setting}, "7"}});

    EXPECT_THROW(watch.begin(), std::runtime_error);

    show_of_other({{std::string{engine::secret_version_setting}, "1"}});
    watch.begin();
}

TEST_P(SettingsTest, the_secret_in_use_is_that_of_the_last_start) {
    EXPECT_EQ(in_use(), "") << "it is made in the database";
    run(sql::insert_secret_verifier, 2, "v2", now());
    run(sql::insert_secret_verifier, 3, "v3", now());
    EXPECT_EQ(in_use(), "3 newest");

    run(sql::set_secret_used, 3, now());
    clock.advance(1min);
    run(sql::set_secret_used, 2, now());

    EXPECT_EQ(in_use(), "2 recorded");
    EXPECT_THROW(watch.begin(), std::runtime_error);
}

TEST_P(SettingsTest, keys_are_counted_by_secret) {
    open_key("a");
    open_key("b");
    const auto old = open_key("c");
    run(set_secret_version, old, 4);

    std::vector<std::string> lines;
    for (const auto& [version, open, finished] :
         read_rows<KeysOfSecret>(*store, sql::doctor::count_keys_by_secret))
        lines.push_back(
            std::to_string(version) + ": " + std::to_string(open) + ' ' + std::to_string(finished)
        );

    EXPECT_THAT(lines, ElementsAre("1: 2 0", "4: 1 0"));
}

TEST_P(SettingsTest, a_key_has_the_server_that_claimed_it_last) {
    const auto id = open_key("k");

    EXPECT_THAT(read_rows<std::int64_t>(*store, sql::find_server_of_key, id), ElementsAre(7));
}

}  // namespace pawl::conformance
