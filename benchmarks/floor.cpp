// The floor of the rides: a plain loop over SQLite's C interface that runs the statements of a ride, one commit for a
// batch, with nothing around it: no HTTP, no engine, no provider, no savepoints. Parameters are made beforehand.
//
//   bench_floor --folder DIR --stripe-url URL --batch N [--rides N] [--prefill FILE] [--list]
//
// A batch counts transactions, as the server's does: a ride has two. With --batch 1 every phase is a commit of its own.
// --prefill: a script that is run before, such as prefill.sql. Prints one JSON object.
#include "benchmarks/recorded.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace {

struct Options {
    std::string folder;
    std::string stripe_url;
    int batch{1};
    int rides{4000};
    std::string prefill;
    bool list{false};
};

void check(int code, sqlite3* db, const char* what) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        throw std::runtime_error{std::string{what} + ": " + sqlite3_errmsg(db)};
}

void script(sqlite3* db, const char* text) { check(sqlite3_exec(db, text, nullptr, nullptr, nullptr), db, text); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    return text;
}

// The words that name the recorded ride, and how ride n is named instead.
class Renaming {
public:
    explicit Renaming(const std::vector<bench::Transaction>& recorded) {
        for (const auto& transaction : recorded)
            for (const auto& statement : transaction) note(statement);
    }
    bench::Parameter of(const bench::Parameter& value, int n) const {
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            if (*number == bench::recorded_key_id) return *number + n;
            if (*number == bench::recorded_ride_id) return *number + n;
            return value;
        }
        const auto* text = std::get_if<std::string>(&value);
        if (text == nullptr) return value;
        char tail[32];
        std::snprintf(tail, sizeof tail, "%07d", n);
        auto made = replaced(*text, bench::recorded_key, std::string{"recorded-key-"} + tail);
        made = replaced(made, std::to_string(bench::recorded_ride_id), std::to_string(bench::recorded_ride_id + n));
        for (const auto& unique : unique_) {
            auto other = unique;
            other.replace(other.size() - 7, 7, tail);
            made = replaced(made, unique, other);
        }
        return made;
    }

private:
    // What must differ from ride to ride: the key's hash, the foreign key, the charge, the ids of the jobs.
    void note(const bench::Statement& statement) {
        const std::map<std::string, std::vector<std::size_t>> places{
            {"insert_registry", {0}}, {"insert_key", {15}}, {"set_charge", {1}}, {"insert_job", {0}}};
        const auto at = places.find(statement.name);
        if (at == places.end()) return;
        for (const auto place : at->second)
            if (const auto* text = std::get_if<std::string>(&statement.parameters.at(place)); text != nullptr && text->size() > 7)
                unique_.push_back(*text);
    }
    std::vector<std::string> unique_;
};

class Floor {
public:
    Floor(const Options& options, std::vector<bench::Transaction> recorded)
        : options_{options}, recorded_{std::move(recorded)} {
        check(sqlite3_open((options.folder + "/rides.db").c_str(), &db_), db_, "open");
        script(db_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA journal_size_limit = 67108864");
        if (!options.prefill.empty()) {
            std::ifstream file{options.prefill};
            script(db_, std::string{std::istreambuf_iterator<char>{file}, {}}.c_str());
        }
        for (const auto& transaction : recorded_)
            for (const auto& statement : transaction) prepare(statement);
        const Renaming renaming{recorded_};
        for (int n = 0; n < options.rides; ++n) parameters_.push_back(parameters_of(renaming, n));
    }
    ~Floor() {
        for (auto& [text, statement] : statements_) sqlite3_finalize(statement.handle);
        sqlite3_close(db_);
    }
    Floor(const Floor&) = delete;
    Floor& operator=(const Floor&) = delete;

    // Rides a second.
    double run() {
        const auto began = std::chrono::steady_clock::now();
        // A batch holds first transactions of new rides and last ones of rides begun before, as the server's does.
        const int phases = static_cast<int>(recorded_.size());
        std::vector<std::pair<int, int>> order;
        const int step = std::max(1, options_.batch / phases);
        for (int from = 0; from < options_.rides; from += step)
            for (int phase = 0; phase < phases; ++phase)
                for (int n = from; n < std::min(from + step, options_.rides); ++n) order.emplace_back(n, phase);
        for (std::size_t i = 0; i < order.size(); i += static_cast<std::size_t>(options_.batch)) {
            script(db_, "BEGIN IMMEDIATE");
            const auto end = std::min(order.size(), i + static_cast<std::size_t>(options_.batch));
            for (auto j = i; j < end; ++j) run_phase(order[j].first, order[j].second);
            script(db_, "COMMIT");
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        return options_.rides / took.count();
    }

    std::int64_t count(const char* query) {
        sqlite3_stmt* statement = nullptr;
        check(sqlite3_prepare_v2(db_, query, -1, &statement, nullptr), db_, query);
        sqlite3_step(statement);
        const auto value = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        return value;
    }

private:
    struct Prepared {
        sqlite3_stmt* handle{};
        std::vector<int> places;
    };
    using Parameters = std::vector<std::vector<std::vector<bench::Parameter>>>;  // By phase and statement.

    void prepare(const bench::Statement& statement) {
        if (statements_.contains(statement.text)) return;
        Prepared made;
        check(sqlite3_prepare_v3(db_, statement.text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made.handle, nullptr), db_, "prepare");
        for (std::size_t i = 1; i <= statement.parameters.size(); ++i)
            made.places.push_back(sqlite3_bind_parameter_index(made.handle, ("$" + std::to_string(i)).c_str()));
        statements_.emplace(statement.text, std::move(made));
    }

    Parameters parameters_of(const Renaming& renaming, int n) const {
        Parameters all;
        for (const auto& transaction : recorded_) {
            auto& phase = all.emplace_back();
            for (const auto& statement : transaction) {
                auto& values = phase.emplace_back();
                for (const auto& value : statement.parameters) values.push_back(renaming.of(value, n));
            }
        }
        return all;
    }

    void run_phase(int n, int phase) {
        const auto& transaction = recorded_[static_cast<std::size_t>(phase)];
        const auto& values = parameters_[static_cast<std::size_t>(n)][static_cast<std::size_t>(phase)];
        for (std::size_t i = 0; i < transaction.size(); ++i) {
            const auto& prepared = statements_.at(transaction[i].text);
            bind(prepared, values[i]);
            int code = SQLITE_ROW;
            while (code == SQLITE_ROW) code = sqlite3_step(prepared.handle);
            check(code, db_, transaction[i].name.c_str());
            sqlite3_reset(prepared.handle);
        }
    }

    static void bind(const Prepared& prepared, const std::vector<bench::Parameter>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int at = prepared.places[i];
            if (at == 0) continue;
            if (const auto* text = std::get_if<std::string>(&values[i]))
                sqlite3_bind_text(prepared.handle, at, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
            else if (const auto* number = std::get_if<std::int64_t>(&values[i]))
                sqlite3_bind_int64(prepared.handle, at, *number);
            else if (const auto* real = std::get_if<double>(&values[i]))
                sqlite3_bind_double(prepared.handle, at, *real);
            else
                sqlite3_bind_null(prepared.handle, at);
        }
    }

    Options options_;
    std::vector<bench::Transaction> recorded_;
    sqlite3* db_{};
    std::map<std::string, Prepared> statements_;
    std::vector<Parameters> parameters_;
};

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--list") {
            options.list = true;
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error{name + " needs a value"};
        const std::string value = argv[++i];
        if (name == "--folder") options.folder = value;
        else if (name == "--stripe-url") options.stripe_url = value;
        else if (name == "--batch") options.batch = std::max(1, std::stoi(value));
        else if (name == "--prefill") options.prefill = value;
        else if (name == "--rides") options.rides = std::stoi(value);
        else throw std::runtime_error{"unknown option " + name};
    }
    if (options.folder.empty() || options.stripe_url.empty()) throw std::runtime_error{"--folder and --stripe-url are needed"};
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto options = options_of(argc, argv);
        auto recorded = bench::record_ride(options.folder, options.stripe_url);
        if (options.list) {
            for (const auto& transaction : recorded) {
                std::printf("BEGIN\n");
                for (const auto& statement : transaction) std::printf("  %s\n", statement.name.c_str());
                std::printf("COMMIT\n");
            }
            return 0;
        }
        Floor floor{options, std::move(recorded)};
        const double rate = floor.run();
        // A floor that wrote anything else than whole rides is none.
        const auto done = floor.count("SELECT count(*) FROM idempotency_keys AS k JOIN rides AS r ON r.idempotency_key_id = k.id "
                                      "WHERE k.standing = 'finished' AND k.idempotency_key LIKE 'recorded-%' AND r.stripe_charge_id IS NOT NULL AND r.state = 'booked'");
        if (done != options.rides) throw std::runtime_error{"only " + std::to_string(done) + " rides are whole"};
        std::printf("{\"rate_per_s\": %.1f, \"batch\": %d, \"rides\": %d}\n", rate, options.batch, options.rides);
        return 0;
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "bench_floor: %s\n", failed.what());
        return 1;
    }
}
