#include "apps/rides/reconcile_days.hpp"

#include <pawl/json.hpp>
#include <pawl/log.hpp>

#include "apps/rides/charge_differences.hpp"
#include "apps/rides/csv.hpp"
#include "rides/statements.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rides {

namespace {

using namespace std::chrono_literals;
using Day = std::chrono::sys_days;

constexpr int page_size = 10'000;   // Rides a query.
constexpr std::size_t batch = 500;  // Differences a transaction.
constexpr int days_max = 31;
constexpr int failed_in_turn_max = 3;  // Then the provider fails, and not one charge.
constexpr std::int64_t seconds_of_day = 86'400;
constexpr std::int64_t slices = 8;  // Stripe's limit is 100 requests a second.

std::string text_of(Day day) {
    const std::chrono::year_month_day date{day};
    std::array<char, 16> text{};
    std::snprintf(
        text.data(),
        text.size(),
        "%04d-%02u-%02u",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day())
    );
    return text.data();
}

// Throws std::invalid_argument.
Day day_of(const std::string& text) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    const int read = std::sscanf(text.c_str(), "%4d-%2u-%2u", &year, &month, &day);
    const std::chrono::year_month_day date{
        std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
    if (read != 3 || !date.ok() || text_of(Day{date}) != text)
        throw std::invalid_argument{"the day is " + text + ": YYYY-MM-DD, such as 2026-11-21"};
    return date;
}

std::vector<BookedCharge> list_slice(Stripe& stripe, ChargeQuery query, std::stop_token stop) {
    std::vector<BookedCharge> all;
    while (!stop.stop_requested()) {
        auto page = stripe.list_charges(query);
        std::ranges::move(page.charges, std::back_inserter(all));
        if (!page.has_more || page.charges.empty()) break;
        query.after = all.back().id;
    }
    return all;
}

// In several slices of the day at once, because a page takes Stripe a quarter of a second.
std::vector<BookedCharge> list_theirs(Stripe& stripe, Day day, const std::stop_token& stop) {
    const auto begin = std::chrono::seconds{day.time_since_epoch()}.count();
    std::vector<std::future<std::vector<BookedCharge>>> running;
    for (std::int64_t i = 0; i < slices; ++i) {
        const ChargeQuery query{
            .since = begin + i * (seconds_of_day / slices),
            .until = begin + (i + 1) * (seconds_of_day / slices)};
        running.push_back(std::async(std::launch::async, [&stripe, query, stop] {
            return list_slice(stripe, query, stop);
        }));
    }
    std::vector<BookedCharge> all;
    for (auto& slice : running) std::ranges::move(slice.get(), std::back_inserter(all));
    return all;
}

// A snapshot for each page: one for the whole day would keep old rows in PostgreSQL.
std::vector<RideWithCharge> list_ours(
    pawl::Database& database, Day day, const std::stop_token& stop
) {
    std::vector<RideWithCharge> all;
    pawl::TimePoint from = day;
    const pawl::TimePoint until = day + std::chrono::days{1};
    std::int64_t above = 0;
    std::optional<std::string> last;
    while (!stop.stop_requested()) {
        std::vector<RideWithCharge> page;
        database.read([&](pawl::Snapshot& read) {
            page = last ? pawl::query<RideWithCharge>(
                              read, sql::list_day_after, *last, above, until, page_size
                          )
                        : pawl::query<RideWithCharge>(read, sql::list_day, from, until, page_size);
        });
        if (page.empty()) break;
        last = page.back().created_at;
        above = page.back().id;
        const bool whole = std::ssize(page) == page_size;
        std::ranges::move(page, std::back_inserter(all));
        if (!whole) break;
    }
    return all;
}

// A charge of this day whose ride began on another day.
std::optional<RideWithCharge> ride_of(pawl::Database& database, const std::string& charge) {
    std::optional<RideWithCharge> found;
    database.read([&](pawl::Snapshot& read) {
        found = pawl::query_maybe<RideWithCharge>(read, sql::show_ride_of_charge, charge);
    });
    return found;
}

// Of a trip, which has two charges.
struct TripWithCharge {
    std::int64_t id{};
    std::int64_t amount{};
    std::string currency;
};

std::optional<TripWithCharge> trip_of(pawl::Database& database, const std::string& charge) {
    std::optional<TripWithCharge> found;
    database.read([&](pawl::Snapshot& read) {
        found = pawl::query_maybe<TripWithCharge>(read, sql::find_trip_of_charge, charge);
    });
    return found;
}

// What is left after the few charges that belong to another day on one side were looked up.
std::vector<ChargeDifference> differences_of(
    pawl::Database& database, Stripe& stripe, Compared compared, const std::stop_token& stop
) {
    auto found = std::move(compared.differ);
    for (const auto& theirs : compared.only_theirs) {
        if (stop.stop_requested()) break;
        if (const auto ours = ride_of(database, theirs.id)) {
            if (!detail_of(theirs, *ours).empty()) found.push_back(differing(theirs, *ours));
            continue;
        }
        const auto trip = trip_of(database, theirs.id);
        if (trip && trip->amount == theirs.amount && trip->currency == theirs.currency) continue;
        found.push_back(
            {theirs.id,
             trip ? "differs" : "only-theirs",
             {},
             theirs.amount,
             theirs.currency,
             trip ? "the trip " + std::to_string(trip->id) + " has " +
                        std::to_string(trip->amount) + ' ' + trip->currency
                  : theirs.description}
        );
    }
    int failed_in_turn = 0;
    for (const auto& ours : compared.only_ours) {
        if (stop.stop_requested()) break;
        std::string detail = ours.state;
        try {
            if (stripe.find_charge(ours.charge)) continue;  // It is compared on its own day.
            failed_in_turn = 0;
        } catch (const std::runtime_error& error) {
            // One charge that the provider fails to show does not hold up the day.
            if (++failed_in_turn == failed_in_turn_max) throw;
            detail = error.what();
        }
        found.push_back({ours.charge, "only-ours", ours.id, ours.amount, ours.currency, detail});
    }
    return found;
}

// Never before `began`, so that their own comparison does not close them: two connections may know
// PostgreSQL's clock to some milliseconds only.
void store_differences(
    pawl::Database& database,
    const std::string& day,
    pawl::TimePoint began,
    const std::vector<ChargeDifference>& found
) {
    for (std::size_t from = 0; from < found.size(); from += batch) {
        const auto to = std::min(from + batch, found.size());
        database.write([&](pawl::Tx& tx) {
            const auto now = std::max(tx.now(), began);
            for (auto i = from; i < to; ++i) {
                const auto& one = found[i];
                pawl::send(
                    tx,
                    sql::put_difference,
                    one.charge,
                    day,
                    one.kind,
                    one.ride,
                    one.amount,
                    one.currency,
                    one.detail,
                    now
                );
            }
        });
    }
}

// The columns of list_differences.
struct StoredDifference {
    std::string charge_id;
    std::string day;
    std::string kind;
    std::optional<std::int64_t> ride_id;
    std::int64_t amount{};
    std::string currency;
    std::string detail;
    std::string state;
    std::string first_seen;
    std::string last_seen;
};

void print(DifferenceFormat format, const StoredDifference& one, std::ostream& out) {
    if (format == DifferenceFormat::json) {
        out << pawl::to_json(one) << '\n';
        return;
    }
    const auto ride = one.ride_id ? std::to_string(*one.ride_id) : "";
    const std::vector<std::string> cells{
        one.state,
        one.kind,
        one.day,
        one.charge_id,
        ride,
        std::to_string(one.amount),
        one.currency,
        one.detail,
        one.first_seen,
        one.last_seen};
    if (format == DifferenceFormat::csv) return print_csv(out, cells);
    for (const auto& cell : cells) {
        auto shown = cell;
        std::ranges::replace_if(
            shown, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '.'
        );
        out << (shown.empty() ? "-" : shown) << "  ";
    }
    out << '\n';
}

}  // namespace

std::optional<DayCompared> compare_day(
    pawl::Database& database, Stripe& stripe, const std::string& day, std::stop_token stop
) {
    const auto date = day_of(day);
    pawl::TimePoint began{};
    database.write([&](pawl::Tx& tx) { began = tx.now(); });
    // Ours first: a charge is at the provider before it is here.
    auto ours = list_ours(database, date, stop);
    auto theirs = list_theirs(stripe, date, stop);
    DayCompared result{.theirs = std::ssize(theirs), .ours = std::ssize(ours)};
    const auto found =
        differences_of(database, stripe, compare(std::move(theirs), std::move(ours)), stop);
    if (stop.stop_requested()) return std::nullopt;
    result.differences = std::ssize(found);
    store_differences(database, day, began, found);
    database.write([&](pawl::Tx& tx) {
        pawl::send(tx, sql::close_differences, day, began, tx.now());
        pawl::send(tx, sql::put_day, day, tx.now(), result.theirs, result.ours, result.differences);
    });
    if (result.differences > 0)
        pawl::log::warning("charges_differ", {{"day", day}, {"differences", result.differences}});
    return result;
}

pawl::JobResult DaysWorker::work(pawl::Tx& tx, const pawl::Job<CompareDays>& job) {
    const auto today = std::chrono::floor<std::chrono::days>(job.args.tick);
    const auto earliest = today - std::chrono::days{days_max};
    auto next = today - std::chrono::days{1};
    if (const auto last = pawl::query_maybe<std::string>(tx, sql::last_compared_day))
        next = std::clamp(day_of(*last) + std::chrono::days{1}, earliest, today);
    std::set<std::string> days;
    for (; next < today; next += std::chrono::days{1}) days.insert(text_of(next));
    for (auto& day : pawl::query<std::string>(tx, sql::list_open_days, text_of(earliest)))
        days.insert(std::move(day));
    for (const auto& day : days) tx.stage(CompareDay{day}, {.unique = day});
    return pawl::done;
}

pawl::JobResult DayWorker::work(pawl::Call& call, const pawl::Job<CompareDay>& job) {
    if (!compare_day(*database_, *stripe_, job.args.day, call.stop()))
        throw std::runtime_error{"stopped while comparing " + job.args.day};
    return pawl::done;
}

std::int64_t print_differences(
    pawl::Database& database, DifferenceFormat format, std::ostream& out
) {
    const bool all = format == DifferenceFormat::csv;
    std::string after;
    std::int64_t open = 0;
    if (all)
        print_csv(
            out,
            {"state",
             "kind",
             "day",
             "charge",
             "ride",
             "amount",
             "currency",
             "detail",
             "first_seen",
             "last_seen"}
        );
    while (true) {
        std::vector<StoredDifference> page;
        database.read([&](pawl::Snapshot& read) {
            page = pawl::query<StoredDifference>(
                read, sql::list_differences, after, all ? "" : "open", page_size
            );
        });
        for (const auto& one : page) {
            print(format, one, out);
            if (one.state == "open") ++open;
        }
        if (std::ssize(page) < page_size) break;
        after = page.back().charge_id;
    }
    if (format == DifferenceFormat::table) out << open << " open differences\n";
    return open;
}

}  // namespace rides
