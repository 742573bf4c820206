#include "benchmarks/trace.hpp"

#include <sqlite3.h>

#include <mutex>
#include <utility>

namespace pawl::bench {

namespace {

std::mutex traced_mutex;
std::vector<std::string> traced;

bool is_control(const std::string& text) {
    for (const auto* word : {"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA"})
        if (text.starts_with(word)) return true;
    return false;
}

int on_statement(unsigned, void*, void* statement, void*) {
    const std::string text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
    const std::lock_guard lock{traced_mutex};
    if (!is_control(text)) traced.push_back(text);
    return 0;
}

int trace_connection(sqlite3* db, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, &on_statement, nullptr);
}

// SQLite calls it for each connection that is opened.
auto entry_point() {
    return reinterpret_cast<void (*)()>(&trace_connection);
}

}  // namespace

Tracing::Tracing() {
    sqlite3_auto_extension(entry_point());
}

Tracing::~Tracing() {
    sqlite3_cancel_auto_extension(entry_point());
}

std::vector<std::string> take_trace() {
    const std::lock_guard lock{traced_mutex};
    return std::exchange(traced, {});
}

}  // namespace pawl::bench
