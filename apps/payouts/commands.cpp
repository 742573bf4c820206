// payouts files      [list] | show NUMBER | cancel NUMBER | after-restore FILE ... or --none
// payouts reports    [list] | show ID | skip ID | settle ID | replace ID
// payouts set-aside  [list] | release ID | refuse ID

#include "apps/payouts/commands.hpp"

#include <pawl/command_line.hpp>
#include <pawl/json.hpp>

#include "apps/payouts/after_restore.hpp"
#include "apps/payouts/cancel_file.hpp"
#include "apps/payouts/decide_report.hpp"
#include "apps/payouts/fetch_reports.hpp"
#include "apps/payouts/shown.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>

namespace payouts {

namespace {

// Ends a transaction without its writes.
struct DryRun {};

struct Arguments {
    std::string url{"sqlite:payouts.db"};
    std::int64_t id{};
    std::string file{};
    std::vector<std::string> sent_files{};
    RestoreAnswer restored{};
    std::string series{};
    std::int64_t number{};
    LinesByHand by_hand{};
    CancelRequest cancel{};
    Decider who{};
    bool dry_run{};
};

class Commands {
public:
    Commands(const std::function<Settings()>& settings, std::ostream& out, std::ostream& error)
        : settings_{settings}, out_{out}, error_{error} {
        args_.who.by = pawl::operator_name();
        app_.require_subcommand(1);
        add_files();
        add_reports();
        add_set_aside();
    }
    CLI::App& app() { return app_; }
    void run() { act_(); }

private:
    using Act = void (Commands::*)();

    CLI::App& add(CLI::App& to, const std::string& name, const std::string& text, Act act) {
        auto& made = *to.add_subcommand(name, text);
        made.add_option("--database", args_.url, "sqlite:FILE or postgres://USER@HOST/NAME")
            ->capture_default_str();
        // Of a group and its command both are called, the command's first.
        made.callback([this, act] {
            if (!act_) act_ = [this, act] { (this->*act)(); };
        });
        return made;
    }
    CLI::App& add_group(const std::string& name, const std::string& text, Act list) {
        auto& group = add(app_, name, text, list);
        group.require_subcommand(0, 1);
        add(group, "list", "All, one JSON object a line", list);
        return group;
    }
    // One that changes something.
    CLI::App& add_act(CLI::App& to, const std::string& name, const std::string& text, Act act) {
        auto& made = add(to, name, text, act);
        made.add_option("--reason", args_.who.reason, "Why, for the audit")->required();
        made.add_option("--by", args_.who.by, "Who, for the audit")->capture_default_str();
        made.add_flag("--dry-run", args_.dry_run, "Show what would be done");
        return made;
    }
    CLI::Option& add_id(CLI::App& to, const std::string& name = "ID") {
        return *to.add_option(name, args_.id)->check(CLI::Validator{pawl::check_decimal, "NUMBER"});
    }

    void add_files();
    void add_reports();
    void add_set_aside();

    pawl::Database& database() {
        if (!database_) database_ = pawl::Database::open(args_.url, pawl::Database::As::tool);
        return *database_;
    }
    template <class Row>
    void print(const Row& row) {
        out_ << pawl::to_json(row) << '\n';
    }
    template <class Row>
    void print_all(const std::vector<Row>& rows) {
        for (const auto& row : rows) print(row);
    }
    // Prints what `decide` returns when it is committed, or would be.
    template <class F>
    void decide(F decide) {
        std::optional<std::invoke_result_t<F, pawl::Tx&>> made;
        try {
            database().write([&](pawl::Tx& tx) {
                made.emplace(decide(tx));
                if (args_.dry_run) throw DryRun{};
            });
        } catch (const DryRun&) {
            error_ << "This was a dry run: nothing is changed.\n";
        }
        print(*made);
    }
    StoredReport stored(const Settings& settings) {
        auto found = read_stored(database(), BankFormat{settings}, args_.id);
        if (found.state.empty()) throw Refused{"there is no report " + std::to_string(args_.id)};
        return found;
    }
    static std::string file_bytes(const std::string& name) {
        std::ifstream in{name, std::ios::binary};
        if (!in) throw std::invalid_argument{"the file " + name + " can't be read"};
        return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
    }

    void files() { print_all(list_files(database())); }
    void file() { print_all(list_file_payouts(database(), args_.id)); }
    void cancel() {
        args_.cancel.number = args_.id;
        args_.cancel.stopped_reports =
            read_stopped_reports(database(), BankFormat{settings_()}, args_.id);
        decide([&](pawl::Tx& tx) { return cancel_file(tx, args_.cancel, args_.who); });
    }
    void after_restore() {
        const BankFormat format{settings_()};
        for (const auto& name : args_.sent_files)
            args_.restored.files.push_back(read_sent_file(format, name, file_bytes(name)));
        decide([&](pawl::Tx& tx) { return answer_restore(tx, format, args_.restored, args_.who); });
    }
    void reports() { print_all(list_reports(database())); }
    void report();
    void skip();
    void settle();
    void replace();
    void set_aside() { print_all(list_set_aside(database())); }
    void release() {
        decide([&](pawl::Tx& tx) { return release_payout(tx, args_.id, args_.who); });
    }
    void refuse() {
        decide([&](pawl::Tx& tx) { return refuse_payout(tx, args_.id, args_.who); });
    }

    const std::function<Settings()>& settings_;
    std::ostream& out_;
    std::ostream& error_;
    CLI::App app_{"Payouts: what goes to the bank, what comes from it, and what persons decide"};
    Arguments args_;
    std::unique_ptr<pawl::Database> database_;
    std::function<void()> act_;
};

void Commands::add_files() {
    auto& files = add_group("files", "Files for the bank", &Commands::files);
    add_id(add(files, "show", "The payouts of a file", &Commands::file), "NUMBER").required();
    auto& cancel = add_act(
        files,
        "cancel",
        "For a file that the bank has refused as a whole: its payouts go in a later file",
        &Commands::cancel
    );
    add_id(cancel, "NUMBER").required();
    cancel.add_option("--set-aside", args_.cancel.set_aside, "Payouts that no file must have now");
    cancel.add_flag("--cut-off-now", args_.cancel.cut_off_now, "Make the new file at once");
    cancel.add_flag(
        "--keep-answered",
        args_.cancel.keep_answered,
        "Of a file that was given up: payouts that a report has named stay in it"
    );
    auto& restored = add_act(
        files,
        "after-restore",
        "Which files the bank got after the backup. Until then no file is made or sent",
        &Commands::after_restore
    );
    restored.add_option("FILE", args_.sent_files, "Each such file");
    restored.add_option(
        "--never-sent", args_.restored.never_sent, "Numbers of files that the bank did not get"
    );
    restored.add_flag("--none", args_.restored.none, "The bank got no file since the backup");
    restored.add_flag(
        "--release-waiting",
        args_.restored.release_waiting,
        "Nobody has refused a payout, or given up a file, since the backup: what waited goes out"
    );
}

void Commands::add_reports() {
    auto& reports = add_group("reports", "Reports of the bank", &Commands::reports);
    auto& show = add(reports, "show", "A report, its lines and numbers", &Commands::report);
    add_id(show).required();
    show.add_option("--to", args_.file, "Write the bank's bytes into this file");
    auto& skip = add_act(reports, "skip", "A report has no effect", &Commands::skip);
    auto& id = add_id(skip);
    auto& series = *skip.add_option("--series", args_.series, "Instead of ID: of a missing report");
    auto& number = *skip.add_option("--number", args_.number, "The missing report's number");
    series.needs(&number)->excludes(&id);
    number.needs(&series);
    auto& settle = add_act(
        reports, "settle", "The right lines of a report, or lines by hand", &Commands::settle
    );
    add_id(settle).required();
    settle.add_option("--paid", args_.by_hand.paid, "End-to-end ids that the report says are paid");
    settle.add_option("--returned", args_.by_hand.returned, "And returned, each as ID=REASON");
    auto& replace =
        add_act(reports, "replace", "Import another file instead of a report", &Commands::replace);
    add_id(replace).required();
    replace.add_option("--file", args_.file, "The file to import")->required();
}

void Commands::add_set_aside() {
    auto& group = add_group("set-aside", "Payouts that no file can have now", &Commands::set_aside);
    add_id(add_act(group, "release", "The next cut-off tries it again", &Commands::release))
        .required();
    add_id(add_act(group, "refuse", "Its client sees it as returned", &Commands::refuse))
        .required();
}

void Commands::report() {
    const auto found = show_report(database(), args_.id);
    if (!found) throw Refused{"there is no report " + std::to_string(args_.id)};
    print(*found);
    if (args_.file.empty()) return;
    std::ofstream to{args_.file, std::ios::binary};
    to << *bytes_of_report(database(), args_.id);
    if (!to.flush()) throw std::runtime_error{"the file " + args_.file + " can't be written"};
}

void Commands::skip() {
    const auto settings = settings_();
    const auto first = settings.first_report.value_or(1);
    if (!args_.series.empty())
        return decide([&](pawl::Tx& tx) {
            return skip_missing(
                tx, {.name = args_.series, .first = first}, args_.number, args_.who
            );
        });
    if (args_.id == 0) throw std::invalid_argument{"give an ID, or --series and --number"};
    const auto report = stored(settings);
    decide([&](pawl::Tx& tx) { return skip_report(tx, args_.id, report, first, args_.who); });
}

void Commands::settle() {
    const auto by_hand = read_lines(args_.by_hand);
    const auto settings = settings_();
    const auto report = stored(settings);
    decide([&](pawl::Tx& tx) {
        return settle_report(
            tx, args_.id, report, by_hand, settings.first_report.value_or(1), args_.who
        );
    });
}

void Commands::replace() {
    const auto bytes = file_bytes(args_.file);
    const auto read = BankFormat{settings_()}.read(bytes);
    const auto name = stored_name(std::filesystem::path{args_.file}.filename().string());
    decide([&](pawl::Tx& tx) {
        return replace_report(
            tx, args_.id, {.name = name, .bytes = bytes, .read = read}, args_.who
        );
    });
}

}  // namespace

bool is_payouts_command(std::string_view word) {
    return word == "files" || word == "reports" || word == "set-aside";
}

int run_payouts_command(
    int argc,
    const char* const* argv,
    const std::function<Settings()>& settings,
    std::ostream& out,
    std::ostream& error
) {
    Commands commands{settings, out, error};
    try {
        commands.app().parse(argc, argv);
        commands.run();
        return 0;
    } catch (const CLI::ParseError& wrong) {
        return commands.app().exit(wrong, out, error) == 0 ? 0 : 2;
    } catch (const Refused& refused) {
        error << "payouts: " << refused.why << '\n';
        return 1;
    }
}

}  // namespace payouts
