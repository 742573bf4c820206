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
#include <stdexcept>

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

// The same server with another database.
std::string with_database(const std::string& url, const std::string& name) {
    const auto query = url.find('?');
    const auto slash = url.rfind('/', query);
    return url.substr(0, slash + 1) + name + (query == url.npos ? "" : url.substr(query));
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
    name_ = "test_" + std::to_string(::getpid()) + "_" + std::to_string(++made);
    run_sql(cluster_url(), "CREATE DATABASE " + name_ + " TEMPLATE " + original);
    url_ = with_database(cluster_url(), name_);
}

PostgresDatabase::~PostgresDatabase() {
    try {
        run_sql(cluster_url(), "DROP DATABASE " + name_ + " WITH (FORCE)");
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "%s\n", failed.what());
    }
}

}  // namespace pawl::testing
