#include "apps/rides/reconcile.hpp"

#include <pawl/tx.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/reconcile_days.hpp"
#include "apps/rides/trips.hpp"
#include "rides/statements.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace rides {

namespace {

constexpr int page_size = 1'000;

// Of a ride or a trip.
struct RecordedCharge {
    std::int64_t id{};
    std::int64_t amount{};
    std::string currency;
};
struct ChargedRide {
    std::int64_t id{};
    std::string charge;
    std::int64_t amount{};
    std::string currency;
};
struct ChargedTrip {
    std::int64_t id{};
    std::optional<std::string> share_charge;
    std::int64_t share{};
    std::optional<std::string> hold;
    std::optional<std::string> rest_charge;
    std::int64_t rest{};
    std::string currency;
};
struct ChargeKey {
    std::int64_t id{};
    std::string status;
};

// One charge, as printed and as a member of the JSON.
struct Line {
    std::string status;
    std::string charge;
    std::int64_t amount{};
    std::string currency;
    std::optional<std::string> created{};
    std::optional<std::int64_t> ride{};
    std::optional<std::int64_t> trip{};
    std::optional<std::int64_t> key_id{};
    std::optional<std::string> key_status{};
    std::string description{};
};

// 2026-11-21T04:30:00.123Z
std::string time_text(pawl::TimePoint at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    const std::time_t time = seconds.time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::ostringstream text;
    text << std::put_time(&parts, "%Y-%m-%dT%H:%M:%S.") << std::setfill('0') << std::setw(3)
         << (at - seconds).count() << 'Z';
    return text.str();
}

class Reconciliation {
public:
    Reconciliation(pawl::Database& database, Stripe& stripe, const pawl::ReconcileOptions& options)
        : database_{database}, stripe_{stripe}, options_{options} {}

    void run() {
        take_theirs();
        take_rides();
        take_trips();
    }
    void print(std::ostream& out) const;
    bool all_matched() const {
        return std::all_of(lines_.begin(), lines_.end(), [](const Line& line) {
            return line.status == "matched";
        });
    }

private:
    void take_theirs();
    void take_rides();
    void take_trips();
    void take(const Line& ours);
    Line line_of(const BookedCharge& charge);
    std::int64_t count(std::string_view status) const {
        return std::count_if(lines_.begin(), lines_.end(), [&](const Line& line) {
            return line.status == status;
        });
    }
    template <class R, int N, class... V>
    std::vector<R> read(const pawl::Statement<N>& statement, const V&... values) {
        std::vector<R> rows;
        database_.read([&](pawl::Snapshot& snapshot) {
            rows = pawl::query<R>(snapshot, statement, values...);
        });
        return rows;
    }
    // Calls `f` for each row of the time, by id.
    template <class R, int N, class F>
    void each(const pawl::Statement<N>& statement, F f) {
        std::int64_t above = 0;
        while (true) {
            const auto page = read<R>(statement, options_.since, options_.until, above, page_size);
            for (const auto& row : page) f(row);
            if (std::ssize(page) < page_size) return;
            above = page.back().id;
        }
    }

    pawl::Database& database_;
    Stripe& stripe_;
    const pawl::ReconcileOptions& options_;
    std::vector<Line> lines_;
    std::set<std::string> seen_;  // The provider's charges.
};

// The client's key in the description of a charge of ours; empty: it is another's.
std::string key_in(const std::string& description) {
    for (const auto ours : {charge_description, trip_description})
        if (description.starts_with(ours)) return description.substr(ours.size());
    return {};
}

std::int64_t seconds_of(pawl::TimePoint at) {
    return std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch()).count();
}

Line Reconciliation::line_of(const BookedCharge& charge) {
    const auto at = time_of_seconds(static_cast<double>(charge.created));
    Line line{
        .status = "only-theirs",
        .charge = charge.id,
        .amount = charge.amount,
        .currency = charge.currency,
        .created = at ? std::optional{time_text(*at)} : std::nullopt,
        .ride = {},
        .trip = {},
        .key_id = {},
        .key_status = {},
        .description = charge.description};
    const auto compare = [&](const RecordedCharge& ours, std::optional<std::int64_t>& id) {
        const bool same = ours.amount == charge.amount && ours.currency == charge.currency;
        line.status = same ? "matched" : "differs";
        id = ours.id;
    };
    for (const auto& ride : read<RecordedCharge>(sql::find_ride_of_charge, charge.id))
        compare(ride, line.ride);
    for (const auto& trip : read<RecordedCharge>(sql::find_trip_of_charge, charge.id))
        compare(trip, line.trip);
    if (line.ride || line.trip) return line;
    // The record of the charge is missing, but its request may be here.
    const auto key = key_in(charge.description);
    if (key.empty()) return line;
    for (const auto& of : read<ChargeKey>(sql::find_key_of_charge, charge.customer, key)) {
        line.key_id = of.id;
        line.key_status = of.status;
    }
    return line;
}

void Reconciliation::take_theirs() {
    ChargeQuery query{.since = seconds_of(options_.since), .until = seconds_of(options_.until)};
    while (true) {
        const auto page = stripe_.list_charges(query);
        for (const auto& charge : page.charges) {
            seen_.insert(charge.id);
            lines_.push_back(line_of(charge));
        }
        if (!page.has_more || page.charges.empty()) return;
        query.after = page.charges.back().id;
    }
}

// A ride at the end of the period may have a later charge: an unlisted charge is queried.
void Reconciliation::take(const Line& ours) {
    if (!seen_.insert(ours.charge).second) return;
    const auto theirs = stripe_.find_charge(ours.charge);
    lines_.push_back(theirs ? line_of(*theirs) : ours);
}

Line only_ours(std::string charge, std::int64_t amount, std::string currency) {
    return {
        .status = "only-ours",
        .charge = std::move(charge),
        .amount = amount,
        .currency = std::move(currency)};
}

void Reconciliation::take_rides() {
    each<ChargedRide>(sql::list_charged_rides, [&](const ChargedRide& ride) {
        auto line = only_ours(ride.charge, ride.amount, ride.currency);
        line.ride = ride.id;
        take(line);
    });
}

void Reconciliation::take_trips() {
    each<ChargedTrip>(sql::list_charged_trips, [&](const ChargedTrip& trip) {
        const auto take_one = [&](const std::optional<std::string>& id, std::int64_t amount) {
            if (!id) return;
            auto line = only_ours(*id, amount, trip.currency);
            line.trip = trip.id;
            take(line);
        };
        take_one(trip.share_charge, trip.share);
        take_one(trip.hold, trip.rest);
        take_one(trip.rest_charge, trip.rest);
    });
}

boost::json::object json_of(const Line& line) {
    const auto or_null = [](const auto& value) {
        return value ? boost::json::value_from(*value) : boost::json::value{nullptr};
    };
    return {
        {"status", line.status},
        {"charge", line.charge},
        {"amount", line.amount},
        {"currency", line.currency},
        {"created", or_null(line.created)},
        {"ride", or_null(line.ride)},
        {"trip", or_null(line.trip)},
        {"key_id", or_null(line.key_id)},
        {"key_status", or_null(line.key_status)},
        {"description", line.description}};
}

std::vector<std::string> cells_of(const Line& line) {
    const auto number = [](const std::optional<std::int64_t>& value) {
        return value ? std::to_string(*value) : "-";
    };
    return {
        line.status,
        line.charge,
        std::to_string(line.amount),
        line.currency,
        line.created.value_or("-"),
        number(line.ride),
        number(line.trip),
        number(line.key_id),
        line.key_status.value_or("-"),
        line.description};
}

// A description is the provider's word: what a terminal would take for a command becomes a dot.
void print_cell(std::ostream& out, std::string cell, std::size_t width) {
    std::ranges::replace_if(
        cell, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '.'
    );
    out << std::left << std::setw(static_cast<int>(width)) << cell;
}

void Reconciliation::print(std::ostream& out) const {
    if (options_.json) {
        boost::json::array charges;
        for (const auto& line : lines_) charges.push_back(json_of(line));
        const boost::json::object report{
            {"since", time_text(options_.since)},
            {"until", time_text(options_.until)},
            {"matched", count("matched")},
            {"differs", count("differs")},
            {"only_theirs", count("only-theirs")},
            {"only_ours", count("only-ours")},
            {"charges", std::move(charges)}};
        out << boost::json::serialize(report) << '\n';
        return;
    }
    std::vector<std::vector<std::string>> table{
        {"STATUS",
         "CHARGE",
         "AMOUNT",
         "CURRENCY",
         "CREATED",
         "RIDE",
         "TRIP",
         "KEY ID",
         "KEY STATUS",
         "DESCRIPTION"}};
    for (const auto& line : lines_) table.push_back(cells_of(line));
    std::vector<std::size_t> widths(table.front().size() - 1);  // The last has its own.
    for (const auto& cells : table)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size() + 2);
    widths.push_back(0);
    for (const auto& cells : table) {
        if (lines_.empty()) break;
        for (std::size_t i = 0; i < widths.size(); ++i) print_cell(out, cells[i], widths[i]);
        out << '\n';
    }
    if (lines_.empty()) out << "There are no charges of that time.\n";
    out << count("matched") << " matched, " << count("differs") << " differ, "
        << count("only-theirs") << " only theirs, " << count("only-ours") << " only ours\n";
}

}  // namespace

int reconcile(
    pawl::Database& database,
    Stripe& stripe,
    const pawl::ReconcileOptions& options,
    std::ostream& out
) {
    if (options.stored) {
        const auto format = options.csv    ? DifferenceFormat::csv
                            : options.json ? DifferenceFormat::json
                                           : DifferenceFormat::table;
        return print_differences(database, format, out) == 0 ? 0 : 1;
    }
    if (!options.day.empty()) {
        const auto day = compare_day(database, stripe, options.day).value();
        out << options.day << ": " << day.theirs << " charges of theirs, " << day.ours
            << " rides of ours, " << day.differences << " differences\n";
        return day.differences == 0 ? 0 : 1;
    }
    Reconciliation found{database, stripe, options};
    found.run();
    found.print(out);
    return found.all_matched() ? 0 : 1;
}

}  // namespace rides
