#include "tests/postgres/cluster.hpp"

#include "tests/free_port.hpp"

#include <postgresql/libpq-fe.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace pawl::testing {

namespace {

// The first line of a command's output.
std::string line_of(const std::string& command) {
    std::array<char, 512> line{};
    FILE* pipe = ::popen(command.c_str(), "r");
    const bool read = pipe != nullptr && std::fgets(line.data(), line.size(), pipe) != nullptr;
    if (pipe == nullptr || ::pclose(pipe) != 0 || !read)
        throw std::runtime_error{"failed: " + command};
    std::string text{line.data()};
    return text.substr(0, text.find('\n'));
}

// In memory, if there is enough: what is there need not outlive the machine.
std::filesystem::path folder_of_little() {
    constexpr std::uintmax_t enough = 4'000'000'000;
    const std::filesystem::path memory{"/dev/shm"};
    std::error_code none;
    const auto space = std::filesystem::space(memory, none);
    return !none && space.available > enough ? memory : std::filesystem::temp_directory_path();
}

class Cluster {
public:
    enum class Keeps { little, what_is_committed };
    explicit Cluster(Keeps keeps) {
        const auto where =
            keeps == Keeps::little ? folder_of_little() : std::filesystem::temp_directory_path();
        std::string folder = (where / "pawl-pg-XXXXXX").string();
        if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error{"no folder"};
        folder_ = folder;
        const auto port = std::to_string(free_port());
        const std::string tool = PAWL_TOOLS "/postgres";
        const auto log = folder + ".log";
        server_ = ::fork();
        if (server_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGINT);
            (void)!std::freopen(log.c_str(), "w", stdout);
            (void)!std::freopen(log.c_str(), "a", stderr);
            ::execl(
                tool.c_str(),
                "postgres",
                "run",
                folder.c_str(),
                "--port",
                port.c_str(),
                keeps == Keeps::what_is_committed ? "--durable" : nullptr,
                nullptr
            );
            ::_exit(127);
        }
        url_ = line_of(tool + " url --port " + port);
    }
    ~Cluster() {
        if (::waitpid(server_, nullptr, WNOHANG) == server_) {
            std::fprintf(stderr, "PostgreSQL ended before the tests. Its log:\n");
            (void)!std::system(("tail -20 " + folder_.string() + ".log >&2").c_str());
        } else {
            ::kill(server_, SIGINT);
            ::waitpid(server_, nullptr, 0);
        }
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        std::filesystem::remove(folder_.string() + ".log", ignored);
    }
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;
    const std::string& url() const { return url_; }

private:
    std::filesystem::path folder_;
    std::string url_;
    pid_t server_{-1};
};

struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};

// The port of the one between the stores and the server.
const char* pgbouncer() {
    return std::getenv("PAWL_TEST_PGBOUNCER");
}

// The same server with another database.
std::string with_database(const std::string& url, const std::string& name) {
    const auto query = url.find('?');
    const auto slash = url.rfind('/', query);
    return url.substr(0, slash + 1) + name + (query == url.npos ? "" : url.substr(query));
}

struct OddSetting {
    const char* name;
    std::vector<const char*> values;
};
// What a database may say that applications before Pawl have set, or that their driver expects.
const std::vector<OddSetting>& odd_settings() {
    static const std::vector<OddSetting> all{
        {"datestyle", {"'German'", "'SQL, DMY'", "'Postgres, MDY'", "'ISO, YMD'"}},
        {"intervalstyle", {"iso_8601", "sql_standard", "postgres_verbose"}},
        {"timezone", {"'Asia/Kathmandu'", "'America/St_Johns'", "'Pacific/Kiritimati'"}},
        {"timezone_abbreviations", {"'India'", "'Australia'"}},
        {"extra_float_digits", {"-5", "0", "3"}},
        {"client_encoding", {"'LATIN1'", "'WIN1252'", "'EUC_JP'"}},
        {"bytea_output", {"escape", "hex"}},
        {"standard_conforming_strings", {"off"}},
        {"synchronous_commit", {"off", "local"}},
        {"default_transaction_isolation", {"'serializable'", "'repeatable read'"}},
        {"default_transaction_deferrable", {"on"}},
        {"plan_cache_mode", {"force_generic_plan", "force_custom_plan"}},
        {"search_path", {R"("$user", missing, public)", "public, pg_catalog"}},
        {"transform_null_equals", {"on"}},
        {"array_nulls", {"off"}},
        {"quote_all_identifiers", {"on"}},
        {"lc_messages", {"'C'", "'C.UTF-8'"}},
        {"enable_seqscan", {"off", "on"}},
        {"lock_timeout", {"'1ms'"}},
        {"default_transaction_read_only", {"on"}}};
    return all;
}

// By PAWL_TEST_SETTINGS, a seed: each test's database has another choice.
void set_oddly(const std::string& database, int number) {
    const char* seed = std::getenv("PAWL_TEST_SETTINGS");
    if (seed == nullptr) return;
    std::minstd_rand chance{static_cast<unsigned>(std::atoi(seed) + number)};
    for (const auto& [name, values] : odd_settings()) {
        if (chance() % 4 == 0) continue;
        // A transaction of a test's own would have to know which connection PgBouncer gives it.
        const bool read_only = std::string_view{name} == "default_transaction_read_only";
        if (pgbouncer() != nullptr && read_only) continue;
        const auto* value = values[chance() % values.size()];
        run_sql(cluster_url(), "ALTER DATABASE " + database + " SET " + name + " = " + value);
    }
}

}  // namespace

std::string cluster_url() {
    if (const char* given = std::getenv("PAWL_TEST_POSTGRES")) return given;
    static const Cluster cluster{Cluster::Keeps::little};
    return cluster.url();
}

std::string durable_cluster_url() {
    static const Cluster cluster{Cluster::Keeps::what_is_committed};
    return cluster.url();
}

void run_sql(const std::string& url, const std::string& text) {
    const std::unique_ptr<PGconn, Close> connection{PQconnectdb(url.c_str())};
    PQclear(PQexec(connection.get(), "SET default_transaction_read_only = off"));
    PGresult* result = PQexec(connection.get(), text.c_str());
    const auto status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        throw std::runtime_error{text + ": " + PQerrorMessage(connection.get())};
}

PostgresDatabase::PostgresDatabase() : PostgresDatabase{std::string{"template1"}} {}

PostgresDatabase::PostgresDatabase(const PostgresDatabase& original)
    : PostgresDatabase{original.name_} {}

PostgresDatabase::PostgresDatabase(const std::string& original) {
    static std::atomic<int> made{0};
    const int number = ++made;
    name_ = "test_" + std::to_string(::getpid()) + "_" + std::to_string(number);
    if (pgbouncer() != nullptr)  // It keeps connections that nobody uses.
        run_sql(
            cluster_url(),
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" +
                original + "'"
        );
    run_sql(cluster_url(), "CREATE DATABASE " + name_ + " TEMPLATE " + original);
    set_oddly(name_, number);
    url_ = pgbouncer() != nullptr
               ? "postgres://pawl@127.0.0.1:" + std::string{pgbouncer()} + "/" + name_
               : with_database(cluster_url(), name_);
}

PostgresDatabase::~PostgresDatabase() {
    try {
        run_sql(cluster_url(), "DROP DATABASE " + name_ + " WITH (FORCE)");
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "%s\n", failed.what());
    }
}

}  // namespace pawl::testing
