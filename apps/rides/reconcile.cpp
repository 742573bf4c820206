#include "apps/rides/reconcile.hpp"

#include <pawl/detail/rows.hpp>

#include "apps/rides/book_ride.hpp"
#include "rides/statements.hpp"
#include "src/cli/output.hpp"
#include "src/core/time_text.hpp"
#include "src/store/blocking.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rides {

namespace {

using pawl::detail::row_as;
using pawl::detail::run_statement;

struct RideCharge {
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
struct ChargeKey {
    std::int64_t id{};
    std::string standing;
};

// One charge, as printed and as a member of the JSON.
struct Line {
    std::string status;
    std::string charge;
    std::int64_t amount{};
    std::string currency;
    std::optional<std::string> created;
    std::optional<std::int64_t> ride;
    std::optional<std::int64_t> key_id;
    std::optional<std::string> standing;
    std::string description;
};

class Reconciliation {
public:
    Reconciliation(pawl::Database& database, Stripe& stripe, const pawl::ReconcileOptions& options)
        : database_{database}, stripe_{stripe}, options_{options} {}

    void run() {
        take_theirs();
        take_ours();
    }
    void print(std::ostream& out) const;
    bool all_matched() const {
        return std::all_of(lines_.begin(), lines_.end(), [](const Line& line) {
            return line.status == "matched";
        });
    }

private:
    void take_theirs();
    void take_ours();
    Line line_of(const BookedCharge& charge);
    std::int64_t count(std::string_view status) const {
        return std::count_if(lines_.begin(), lines_.end(), [&](const Line& line) {
            return line.status == status;
        });
    }
    template <class R, class... V>
    std::vector<R> read(const pawl::Sql& statement, const V&... values) {
        return pawl::store::read_now(database_.store(), [&](pawl::store::Session& session) {
            std::vector<R> rows;
            run_statement(
                session,
                statement,
                [&](const pawl::detail::Row& row) {
                    rows.push_back(row_as<R>(row, statement.name));
                },
                values...
            );
            return rows;
        });
    }

    pawl::Database& database_;
    Stripe& stripe_;
    const pawl::ReconcileOptions& options_;
    std::vector<Line> lines_;
    std::set<std::string> seen_;  // The provider's charges.
};

std::int64_t seconds_of(pawl::TimePoint at) {
    return std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch()).count();
}

Line Reconciliation::line_of(const BookedCharge& charge) {
    Line line{
        .status = "theirs-alone",
        .charge = charge.id,
        .amount = charge.amount,
        .currency = charge.currency,
        .created = pawl::core::time_text(pawl::TimePoint{std::chrono::seconds{charge.created}}),
        .ride = {},
        .key_id = {},
        .standing = {},
        .description = charge.description};
    const auto rides = read<RideCharge>(sql::find_ride_of_charge, charge.id);
    if (!rides.empty()) {
        const auto& ride = rides.front();
        const bool same = ride.amount == charge.amount && ride.currency == charge.currency;
        line.status = same ? "matched" : "differs";
        line.ride = ride.id;
        return line;
    }
    // The record of the charge is missing, but its request may be here.
    if (!charge.description.starts_with(charge_description)) return line;
    const auto key = charge.description.substr(charge_description.size());
    for (const auto& of : read<ChargeKey>(sql::find_key_of_charge, charge.customer, key)) {
        line.key_id = of.id;
        line.standing = of.standing;
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
void Reconciliation::take_ours() {
    constexpr int page_size = 1'000;
    std::int64_t above = 0;
    while (true) {
        const auto page = read<ChargedRide>(
            sql::list_charged_rides, options_.since, options_.until, above, page_size
        );
        for (const auto& ride : page) {
            above = ride.id;
            if (seen_.contains(ride.charge)) continue;
            if (const auto theirs = stripe_.find_charge(ride.charge)) {
                lines_.push_back(line_of(*theirs));
                continue;
            }
            lines_.push_back(
                {.status = "ours-alone",
                 .charge = ride.charge,
                 .amount = ride.amount,
                 .currency = ride.currency,
                 .created = {},
                 .ride = ride.id,
                 .key_id = {},
                 .standing = {},
                 .description = {}}
            );
        }
        if (std::ssize(page) < page_size) return;
    }
}

void Reconciliation::print(std::ostream& out) const {
    if (!options_.json) {
        pawl::cli::print_rows(out, lines_, false, "There are no charges of that time.");
        out << count("matched") << " matched, " << count("differs") << " differ, "
            << count("theirs-alone") << " only theirs, " << count("ours-alone") << " only ours\n";
        return;
    }
    boost::json::array charges;
    for (const auto& line : lines_) charges.push_back(pawl::cli::object_of(line));
    pawl::cli::print_json(
        out,
        boost::json::object{
            {"since", pawl::core::time_text(options_.since)},
            {"until", pawl::core::time_text(options_.until)},
            {"matched", count("matched")},
            {"differs", count("differs")},
            {"theirs_alone", count("theirs-alone")},
            {"ours_alone", count("ours-alone")},
            {"charges", std::move(charges)}}
    );
}

}  // namespace

int reconcile(
    pawl::Database& database,
    Stripe& stripe,
    const pawl::ReconcileOptions& options,
    std::ostream& out
) {
    Reconciliation found{database, stripe, options};
    found.run();
    found.print(out);
    return found.all_matched() ? 0 : 1;
}

}  // namespace rides
