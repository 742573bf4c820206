#include <pawl/detail/rows.hpp>
#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/base/text.hpp"
#include "src/base/time_text.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/json/hash.hpp"
#include "store/statements.hpp"

#include <optional>
#include <stdexcept>
#include <string>

namespace pawl {

namespace {

using detail::execute_statement;
using detail::read_row;
using engine::Staging;
using std::chrono::milliseconds;

constexpr milliseconds longest_delay = std::chrono::hours{10 * 365 * 24};
constexpr milliseconds longest_within = std::chrono::hours{30 * 24};
constexpr std::size_t unique_max = 200;
constexpr std::size_t partition_max = 200;
constexpr int tries_max = 5;

std::string between(
    std::string_view what, milliseconds value, milliseconds least, milliseconds most
) {
    return std::string{what} + " is " + std::to_string(value.count()) +
           " ms: " + std::to_string(least.count()) + " to " + std::to_string(most.count());
}

std::optional<std::string> problem(const StageOptions& options, Staging staging) {
    const auto zero = milliseconds::zero();
    if (options.due_in < zero || options.due_in > longest_delay)
        return between("due_in", options.due_in, zero, longest_delay);
    if (options.within < zero || options.within > longest_within)
        return between("within", options.within, zero, longest_within);
    if (options.unique.size() > unique_max)
        return "unique has " + std::to_string(options.unique.size()) + " bytes: at most " +
               std::to_string(unique_max);
    if (options.unique.empty() && options.within != zero) return "within needs unique";
    if (!options.unique.empty() && options.within == zero && staging == Staging::to_be_pushed)
        return "unique needs within: only the embedded queue knows when a job is done";
    return std::nullopt;
}

std::string hash_of(std::string_view kind, std::string_view unique) {
    json::Parts parts;
    parts.add("pawl.job").add(kind).add(unique);
    return json::short_hash(parts);
}

std::optional<std::string> find(
    detail::Session& session, const Sql& statement, const std::string& hash
) {
    const auto text = [](const detail::Row& row) { return std::string{row.text(0)}; };
    return read_row(session, statement, text, hash);
}

// Opens the window in which `id` is the first job, or returns the id of the first one.
std::optional<std::string> find_first_in_window(
    detail::Session& session, const std::string& hash, milliseconds within, const std::string& id
) {
    const auto now = session.now();
    // A window that ends later was written by a wrong clock.
    const auto bound = now + 2 * longest_within;
    if (execute_statement(session, sql::open_window, hash, now, now + within, bound) == 0)
        return find(session, sql::find_window, hash).value_or("");
    detail::send_statement(session, sql::set_window_result, hash, id);
    return std::nullopt;
}

// Inserts the job, or returns the id of the one that is in the queue already. That one may end
// between the two statements: then the insert is tried again.
template <class Insert>
std::optional<std::string> find_unfinished(
    detail::Session& session, const std::string& hash, Insert insert
) {
    for (int tries = 0; tries < tries_max; ++tries) {
        if (insert()) return std::nullopt;
        if (auto other = find(session, sql::find_unique_job, hash)) return other;
    }
    throw StoreError{
        StoreError::Kind::contention,
        StoreError::Effect::none,
        sql::insert_special_job.name,
        "other transactions stage and end the same unique job too fast"};
}

}  // namespace

Staged Tx::stage_text(
    const detail::KindOfJob& settings,
    const std::string& partition,
    const std::string& args,
    const StageOptions& options
) {
    const auto kind = settings.kind;
    const auto queue = settings.queue;
    const auto key = context_.key_id;
    auto why = problem(options, context_.staging);
    if (partition.size() > partition_max)
        why = "its partition has " + std::to_string(partition.size()) + " bytes: at most " +
              std::to_string(partition_max);
    if (!base::is_utf8(partition) || partition.find('\0') != partition.npos)
        why = "its partition is not UTF-8 without NUL";
    if (why)
        throw std::invalid_argument{
            "pawl: a job of kind '" + std::string{kind} + "' can't be staged: " + *why};
    auto& session = context_.session;
    const auto now = session.now();
    const auto due = base::time_text(now + options.due_in);
    const auto created = base::time_text(now);
    const Staged job{base::random_hex(context_.random, 24), true};
    const auto trace =
        context_.trace != nullptr ? std::optional{context_.trace->text()} : std::nullopt;
    const auto send = [&](const Sql& insert, const auto&... more) {
        detail::send_statement(
            session, insert, job.id, queue, kind, args, due, key, created, more...
        );
    };
    const auto unique = !options.unique.empty();
    const auto hash = unique ? hash_of(kind, options.unique) : std::string{};
    // What most jobs do not have is in a statement of its own.
    const auto insert_special = [&](auto run) {
        return run(
            job.id,
            queue,
            kind,
            args,
            due,
            key,
            created,
            unique ? std::optional{hash} : std::nullopt,
            settings.priority,
            settings.has_partition ? std::optional{partition.empty() ? "-" : partition}
                                   : std::nullopt,
            trace
        );
    };
    const auto in_window = options.within > milliseconds::zero();
    if (in_window)
        if (auto first = find_first_in_window(session, hash, options.within, job.id))
            return {std::move(*first), false};

    if (context_.staging == Staging::to_be_pushed && trace) {
        send(sql::insert_traced_staged_job, *trace);
    } else if (context_.staging == Staging::to_be_pushed) {
        send(sql::insert_staged_job);
    } else if (!unique && !settings.has_partition && settings.priority == 1 && !trace) {
        send(sql::insert_job);
    } else if (!unique) {
        insert_special([&](const auto&... values) {
            detail::send_statement(session, sql::insert_special_job, values...);
        });
    } else if (auto other = find_unfinished(session, hash, [&] {
                   return insert_special([&](const auto&... values) {
                              return execute_statement(session, sql::insert_special_job, values...);
                          }) != 0;
               })) {
        if (in_window) execute_statement(session, sql::close_window, hash);
        return {std::move(*other), false};
    }
    if (context_.staged != nullptr) *context_.staged = true;
    return job;
}

}  // namespace pawl
