#include "apps/payouts/show_files.hpp"

#include <pawl/json.hpp>

#include "payouts/statements.hpp"

#include <optional>
#include <ostream>
#include <string>

namespace payouts {

namespace {

struct FileShown {
    std::int64_t number{};
    std::string name;
    std::string created_at;
    std::int64_t payouts{};
    std::int64_t amount{};
    std::string currency;
    std::string sha256;
    std::optional<std::string> sent_at;
};

struct ReportShown {
    std::int64_t id{};
    std::string name;
    std::string fetched_at;
    std::string state;
    std::optional<std::string> sender;
    std::optional<std::string> message_id;
    std::optional<std::int64_t> lines;
    std::optional<std::int64_t> new_lines;  // Less than `lines`: some came before.
    std::optional<std::string> rule;
    std::optional<std::string> found;
};

template <class Row, class Statement>
void show(pawl::Database& database, const Statement& statement, std::ostream& out) {
    database.read([&](pawl::Snapshot& read) {
        for (const auto& row : pawl::query<Row>(read, statement)) out << pawl::to_json(row) << '\n';
    });
}

}  // namespace

void show_files(pawl::Database& database, std::ostream& out) {
    show<FileShown>(database, sql::list_files, out);
}

void show_reports(pawl::Database& database, std::ostream& out) {
    show<ReportShown>(database, sql::list_reports, out);
}

}  // namespace payouts
