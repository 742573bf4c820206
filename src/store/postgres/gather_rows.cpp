#include "src/base/text.hpp"
#include "src/store/postgres/connection.hpp"
#include "store/postgres/session.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace pawl::postgres {

namespace {

using Values = std::vector<std::optional<std::string>>;

constexpr std::size_t rows_max = 1'000;
constexpr std::size_t bytes_max = 1'000'000;

// A statement that inserts a row, and those that insert two and many of them.
struct Inserts {
    const Sql* one{};
    const Sql* two{};
    const Sql* many{};  // Null: there is none.
};

// By the text, which may be at several addresses. Null: its rows can't be gathered.
const Inserts* inserts_of(const Sql& one) {
    static constexpr std::array<Inserts, 3> known{
        {{&sql::insert_job, &sql::postgres::insert_two_jobs, &sql::postgres::insert_jobs},
         {&sql::insert_key_reference, &sql::postgres::insert_two_key_references, nullptr},
         {&sql::insert_staged_job,
          &sql::postgres::insert_two_staged_jobs,
          &sql::postgres::insert_staged_jobs}}};
    const auto* const found = std::ranges::find_if(known, [&](const Inserts& inserts) {
        return one.postgres == inserts.one->postgres;
    });
    return found == known.end() ? nullptr : found;
}

// PostgreSQL refuses other values with an error that names the single statement.
bool is_json(const Values& values) {
    return std::all_of(values.begin(), values.end(), [](const auto& value) {
        return !value || base::is_utf8(*value);
    });
}

std::size_t size_of(const Values& values) {
    std::size_t bytes = 0;
    for (const auto& value : values) bytes += value ? value->size() : 0;
    return bytes;
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
        const auto* inserts = head.use == Use::plain ? inserts_of(head.statement) : nullptr;
        auto end = first + 1;
        const auto belongs = [&](const Queued& next) {
            return next.use == Use::plain && next.owner == head.owner &&
                   next.statement.postgres == head.statement.postgres && is_json(next.values);
        };
        if (inserts != nullptr && is_json(head.values)) {
            const auto rows = inserts->many == nullptr ? 2 : rows_max;
            const auto awaited = queued.size() - 1;
            auto bytes = size_of(head.values);
            for (; end < std::min(first + rows, awaited) && belongs(queued[end]); ++end) {
                bytes += size_of(queued[end].values);
                if (bytes > bytes_max) break;
            }
        }
        if (end - first == 2) {
            std::ranges::move(queued[first + 1].values, std::back_inserter(head.values));
            head.statement = *inserts->two;
        } else if (end - first > 2) {
            std::string rows;
            for (auto row = first; row < end; ++row) append_row(rows, queued[row].values);
            head.values = {rows + ']'};
            head.statement = *inserts->many;
        }
        gathered.push_back(std::move(head));
        first = end;
    }
    return gathered;
}

}  // namespace pawl::postgres
