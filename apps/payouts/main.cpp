#include <pawl/bearer_token.hpp>
#include <pawl/program.hpp>
#include <pawl/visible_text.hpp>

#include "apps/payouts/bank_format.hpp"
#include "apps/payouts/commands.hpp"
#include "apps/payouts/fetch_reports.hpp"
#include "apps/payouts/import_report.hpp"
#include "apps/payouts/post_payout.hpp"
#include "apps/payouts/run_now.hpp"
#include "apps/payouts/send_file.hpp"
#include "apps/payouts/settings.hpp"
#include "payouts/migrations.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>

namespace {

using namespace payouts;

std::optional<pawl::Principal> find_account(
    const Settings& settings, const pawl::RequestHead& head
) {
    const auto token = pawl::bearer_token(head);
    if (!token) return std::nullopt;
    for (const auto& client : settings.clients)
        if (client.token == *token)
            return pawl::Principal{.tenant = "payouts", .account = client.account};
    return std::nullopt;
}

Operators operators_of(const Settings& settings) {
    Operators operators;
    for (const auto& client : settings.clients)
        if (client.is_operator.value_or(false)) operators.insert(client.account);
    return operators;
}

pawl::ServiceOptions service_options(const Settings& settings) {
    pawl::ServiceOptions options;
    if (settings.lease_ms) {
        options.lease = std::chrono::milliseconds{*settings.lease_ms};
        options.phase_deadline = options.lease * 3 / 10;
        options.job_lease = options.lease;
        options.job_timeout = options.lease * 2 / 3;
    }
    if (settings.retry_ms) {
        options.retry_layers.clear();
        for (const auto wait : *settings.retry_ms) options.retry_layers.emplace_back(wait);
    }
    using namespace std::chrono_literals;
    options.queues = {
        {.name = std::string{ImportReport::settings.queue},
         .workers = 1,
         .retry_layers = {settings.retry_ms ? options.retry_layers.front() : 1min},
         .retry_workers = {1}}};
    if (settings.complete_after_ms)
        options.complete_after = std::chrono::milliseconds{*settings.complete_after_ms};
    if (settings.settle_after_ms)
        options.settle_after = std::chrono::milliseconds{*settings.settle_after_ms};
    return options;
}

std::int64_t milliseconds_of(pawl::TimePoint tick) {
    return tick.time_since_epoch().count();
}

void add_all(pawl::Service& service, const Settings& settings, const pawl::Sftp& sftp) {
    const BankFormat format{settings};
    service.add_setting("bank", sftp.target());
    auto& database = service.database();
    const auto& server = settings.sftp;
    service.add(PostPayout{format});
    service.add(CutOffNow{operators_of(settings)});
    service.add(FetchNow{operators_of(settings)});
    service.add(CutOffWorker{format});
    service.add(SendFileWorker{database, sftp, server.inbox, server.archive.value_or("")});
    service.add(FetchReportsWorker{database, sftp, server.outbox});
    service.add(ImportReportWorker{database, format, settings.first_report.value_or(1)});
    const pawl::PeriodicOptions times{.time_zone = settings.time_zone.value_or("UTC")};
    service.every(
        settings.cut_off, [](pawl::TimePoint tick) { return CutOff{milliseconds_of(tick)}; }, times
    );
    service.every(
        settings.fetch,
        [](pawl::TimePoint tick) { return FetchReports{milliseconds_of(tick)}; },
        times
    );
}

void add_routes(pawl::HttpServer& server) {
    server.post<PostPayout>("/payouts");
    server.get("/payouts/{id}", ShowPayout{});
    server.post<CutOffNow>("/cut-offs");
    server.post<FetchNow>("/report-fetches");
}

Settings settings_from_environment() {
    const char* file = std::getenv("PAYOUTS_SETTINGS");
    if (file == nullptr)
        throw std::invalid_argument{"PAYOUTS_SETTINGS is not set: it names the settings file"};
    return read_settings(file);
}

int run(int argc, char** argv) {
    const std::string_view first{argc > 1 ? argv[1] : ""};
    if (is_payouts_command(first)) {
        std::ostringstream out;
        const int code =
            run_payouts_command(argc, argv, &settings_from_environment, out, std::cerr);
        std::cout << pawl::visible_text(out.str());  // It has texts of clients and of the bank.
        return code;
    }
    // Before any other work: a signal never ends a server during its start.
    if (first == "serve") pawl::block_end_signals();
    const auto settings = settings_from_environment();
    const pawl::Sftp sftp{settings.sftp_options()};
    return pawl::run_program(
        {.name = "payouts",
         .summary =
             "Payouts: sends payments to a bank in files, and reads its answers. "
             "`payouts files`, `payouts reports` and `payouts set-aside` show both, and what "
             "a person must decide. PAYOUTS_SETTINGS names the settings file.",
         .migrations = sql::migrations::all,
         .add = [&](pawl::Service& service) { add_all(service, settings, sftp); },
         .routes = &add_routes,
         .service = service_options(settings),
         .http =
             {.authenticate = [&](const pawl::RequestHead& head
                              ) { return find_account(settings, head); },
              .realm = "Payouts"}},
        argc,
        argv
    );
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::invalid_argument& wrong) {
        std::fprintf(stderr, "payouts: %s\n", wrong.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "payouts: %s\n", error.what());
        return 1;
    }
}
