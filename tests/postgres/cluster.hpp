#pragma once

#include <string>

namespace pawl::testing {

// This process's PostgreSQL server, started by tools/postgres on first use and stopped with the
// process; or the one that PAWL_TEST_POSTGRES names by URL, which must allow creating databases.
std::string cluster_url();

// Another one, which keeps what it has committed; always started by this process.
std::string durable_cluster_url();

// A new, empty database of cluster_url(), dropped with this object. A copy is another database with
// the same tables and rows; nobody may be connected to the original meanwhile.
class PostgresDatabase {
public:
    PostgresDatabase();
    ~PostgresDatabase();
    PostgresDatabase(const PostgresDatabase& original);
    PostgresDatabase& operator=(const PostgresDatabase&) = delete;
    const std::string& url() const { return url_; }

private:
    explicit PostgresDatabase(const std::string& original);

    std::string name_;
    std::string url_;
};

// Runs a statement there, without a store.
void run_sql(const std::string& url, const std::string& text);

}  // namespace pawl::testing
