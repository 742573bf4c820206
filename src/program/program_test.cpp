#include <pawl/program.hpp>
#include <pawl/testing.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

// The program of a small service, by its command line (issue 19, part 9). The tutorial's programs
// test `serve`.
namespace pawl {
namespace {

constexpr Sql tables{"0001_greetings", "CREATE TABLE greetings (name TEXT) STRICT", {}};
constexpr std::array<const Sql*, 1> migrations{&tables};

struct GreetRequest {
    std::string name;
};
class Greet {
public:
    static constexpr std::string_view name = "greet";
    using Started = pawl::Started<GreetRequest>;
    Finish greet(Tx& tx, const Started& at) {
        static constexpr Statement<1> insert{
            "insert_greeting", "INSERT INTO greetings VALUES ($1)", {}};
        execute(tx, insert, at.request.name);
        return answer(200, std::string{"{}"});
    }
    using Flow = Steps<Atomic<&Greet::greet>>;
};

struct Ran {
    int code{};
    std::string out;
    std::string error;
};

class ProgramTest : public ::testing::Test {
protected:
    ProgramTest() {
        if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
        database = "sqlite:" + folder_ + "/greeter.db";
    }
    ~ProgramTest() override { std::filesystem::remove_all(folder_); }

    Ran run(std::vector<const char*> words) {
        words.insert(words.begin(), "greeter");
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        const int code = run_program(program, static_cast<int>(words.size()), words.data());
        auto out = ::testing::internal::GetCapturedStdout();
        return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
    }

    Program program{
        .name = "greeter",
        .summary = "Greets",
        .migrations = migrations,
        .add = [](Service& service) { service.add(Greet{}); },
        .http = {.anonymous = true}};
    std::string folder_{::testing::TempDir() + "pawl_program_XXXXXX"};
    std::string database;
};

TEST_F(ProgramTest, the_help_names_the_program_and_its_commands) {
    const auto help = run({"--help"});

    EXPECT_EQ(help.code, 0);
    for (const auto* text : {"Greets", "greeter", "serve", "greeter top | keys | attention | jobs"})
        EXPECT_NE(help.out.find(text), std::string::npos) << text << " in\n" << help.out;
}

TEST_F(ProgramTest, each_command_has_the_options_of_the_service) {
    const auto help = run({"keys", "--help"});

    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("--database TEXT=sqlite:greeter.db"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("--queue"), std::string::npos) << help.out;
}

TEST_F(ProgramTest, the_graph_needs_no_database) {
    const auto graph = run({"graph", "greet", "--database", "postgres://nobody@127.0.0.1:1/none"});

    EXPECT_EQ(graph.code, 0) << graph.error;
    EXPECT_NE(graph.out.find("started"), std::string::npos) << graph.out;
}

TEST_F(ProgramTest, openapi_needs_no_database) {
    program.routes = [](HttpServer& server) { server.post<Greet>("/greetings"); };

    const auto document = run({"openapi"});

    EXPECT_EQ(document.code, 0) << document.error;
    EXPECT_EQ(document.out.substr(0, 20), R"({"openapi":"3.1.0",")");
    EXPECT_NE(document.out.find("/greetings"), std::string::npos);
}

TEST_F(ProgramTest, migrate_makes_the_tables_and_the_commands_read_them) {
    EXPECT_EQ(run({"migrate", "--database", database.c_str()}).code, 0);

    const auto keys = run({"--database", database.c_str(), "keys", "list", "--json"});
    const auto listed = run({"keys", "list", "--json", "--database", database.c_str()});

    EXPECT_EQ(keys.code, 2);  // A command comes first.
    EXPECT_EQ(listed.code, 0) << listed.error;
}

TEST_F(ProgramTest, a_dry_run_of_migrate_lists_what_would_run) {
    program.migrations = {};
    EXPECT_EQ(run({"migrate", "--database", database.c_str()}).code, 0);
    program.migrations = migrations;

    const auto dry = run({"migrate", "--dry-run", "--json", "--database", database.c_str()});

    EXPECT_EQ(dry.code, 0) << dry.error;
    EXPECT_EQ(dry.out, "[{\"owner\":\"greeter\",\"name\":\"0001_greetings\"}]\n");
    EXPECT_EQ(
        run({"migrate", "--dry-run", "--database", database.c_str()}).out.find("nothing"),
        std::string::npos
    );
    EXPECT_EQ(run({"migrate", "--database", database.c_str()}).code, 0);
    EXPECT_EQ(
        run({"migrate", "--dry-run", "--database", database.c_str()}).out,
        "There is nothing to migrate.\n"
    );
}

TEST_F(ProgramTest, a_setting_that_strands_calls_is_a_warning_of_the_doctor) {
    EXPECT_EQ(run({"migrate", "--database", database.c_str()}).code, 0);
    const auto before = run({"doctor", "--json", "--database", database.c_str()});
    program.service.drain = 1s;

    const auto doctor = run({"doctor", "--json", "--database", database.c_str()});

    EXPECT_EQ(before.out.find("a stop waits"), std::string::npos) << before.out;
    EXPECT_NE(doctor.out.find("a stop waits for 1000 ms"), std::string::npos) << doctor.out;
    EXPECT_NE(doctor.code, 0);
}

TEST_F(ProgramTest, how_long_keys_are_kept_is_an_option) {
    const auto once = [this](const char* option, const char* value) {
        return run({"reaper", "--once", "--database", database.c_str(), option, value}).code;
    };
    EXPECT_EQ(run({"migrate", "--database", database.c_str()}).code, 0);
    EXPECT_EQ(once("--keep-keys", "2h"), 0);
    EXPECT_EQ(once("--keep-expired", "30d"), 0);
    EXPECT_EQ(once("--keep-keys", "72"), 2);
    EXPECT_EQ(once("--keep-keys", "90m"), 2);
    EXPECT_EQ(once("--keep-keys", "0h"), 2);
    EXPECT_EQ(once("--keep-expired", "1h"), 2);
}

TEST_F(ProgramTest, the_doctor_of_a_database_that_is_not_there_is_2) {
    const auto doctor = run({"doctor", "--database", database.c_str()});

    EXPECT_EQ(doctor.code, 2);
    EXPECT_NE(doctor.error.find("there is no database"), std::string::npos) << doctor.error;
}

TEST_F(ProgramTest, wrong_arguments_are_2_and_say_what_to_do) {
    const auto unknown = run({"sevre"});
    const auto option = run({"serve", "--databse", "x"});
    const auto url = run({"keys", "list", "--database", "mysql://x"});
    const auto workers = run({"serve", "--workers", "0x10"});

    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.error.find("greeter: there is no command \"sevre\""), std::string::npos);
    EXPECT_EQ(option.code, 2);
    EXPECT_NE(option.error.find("--databse"), std::string::npos) << option.error;
    EXPECT_EQ(url.code, 2);
    EXPECT_NE(url.error.find("greeter: "), std::string::npos) << url.error;
    EXPECT_EQ(workers.code, 2);
}

TEST_F(ProgramTest, a_command_is_needed) {
    const auto nothing = run({});

    EXPECT_EQ(nothing.code, 2);
    EXPECT_NE(nothing.error.find("see greeter --help"), std::string::npos) << nothing.error;
}

}  // namespace
}  // namespace pawl
