#include "src/base/text.hpp"
#include "src/store/postgres/connection.hpp"
#include "store/postgres/session.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pawl::postgres {

namespace {

using Values = std::vector<std::optional<std::string>>;

constexpr std::size_t rows_max = 1'000;
constexpr std::size_t bytes_max = 1'000'000;

// The statement that inserts many rows for one that inserts one; null: there is none. By the text,
// which may be at several addresses.
const Sql* many_of(const Sql& one) {
    constexpr std::array<std::pair<const Sql*, const Sql*>, 2> known{
        {{&sql::insert_job, &sql::postgres::insert_jobs},
         {&sql::insert_staged_job, &sql::postgres::insert_staged_jobs}}};
    for (const auto& [single, many] : known)
        if (one.postgres == single->postgres) return many;
    return nullptr;
}

bool is_reference(const Sql& statement) {
    return statement.postgres == sql::insert_key_reference.postgres;
}

// PostgreSQL refuses other values with an error that names the single statement.
bool is_json(const Values& values) {
    return std::all_of(values.begin(), values.end(), [](const auto& value) {
        return !value || base::is_utf8(*value);
    });
}

void append_row(std::string& rows, const Values& values) {
    rows += rows.empty() ? '[' : ',';
    rows += '{';
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) rows += ',';
        rows += "\"p" + std::to_string(i + 1) + "\":";
        if (values[i])
            base::append_string(rows, *values[i]);
        else
            rows += "null";
    }
    rows += '}';
}

}  // namespace

std::vector<Connection::Queued> Connection::gather_rows(std::vector<Queued> queued) {
    std::vector<Queued> gathered;
    gathered.reserve(queued.size());
    for (std::size_t first = 0; first < queued.size();) {
        auto& head = queued[first];
        const auto* many = head.use == Use::plain ? many_of(head.statement) : nullptr;
        std::string rows;
        auto end = first;
        const auto belongs = [&](const Queued& next) {
            return next.use == Use::plain && next.owner == head.owner &&
                   next.statement.postgres == head.statement.postgres && is_json(next.values) &&
                   end - first < rows_max && rows.size() < bytes_max;
        };
        // A single row stays as it is.
        const auto awaited = queued.size() - 1;
        if (is_reference(head.statement) && first + 1 < awaited && belongs(queued[first + 1])) {
            auto& values = head.values;
            auto& others = queued[first + 1].values;
            values.insert(values.end(), others.begin(), others.end());
            gathered.push_back(
                {sql::postgres::insert_two_key_references, head.use, head.owner, std::move(values)}
            );
            first += 2;
            continue;
        }
        if (many != nullptr && first + 1 < awaited && belongs(queued[first + 1]))
            for (; end < awaited && belongs(queued[end]); ++end)
                append_row(rows, queued[end].values);
        if (end - first < 2) {
            gathered.push_back(std::move(head));
            ++first;
            continue;
        }
        rows += ']';
        gathered.push_back({*many, Use::plain, head.owner, {std::move(rows)}});
        first = end;
    }
    return gathered;
}

}  // namespace pawl::postgres
