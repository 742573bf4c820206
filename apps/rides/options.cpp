#include "apps/rides/options.hpp"

#include <pawl/command_line.hpp>

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace rides {

namespace {

using Milliseconds = std::chrono::milliseconds;

CLI::Option* add_ms(
    CLI::App& app, const std::string& name, Milliseconds& to, const std::string& text
) {
    return app.add_option_function<std::int64_t>(
        name,
        [&to](std::int64_t ms) { to = Milliseconds{ms}; },
        text + " (default " + std::to_string(to.count()) + ")"
    );
}

// What one client may cost before its request is whole.
void add_limits(CLI::App& app, ServeOptions& options) {
    auto& limits = options.limits;
    const auto add = [&](const char* name, auto& to, const char* text) {
        app.add_option(name, to, text)->capture_default_str();
    };
    add("--connections-max",
        options.connections_max,
        "Open connections; for one more, the one without a request for the longest time is closed");
    add("--connections-per-address-max",
        options.connections_per_address_max,
        "Of one client address, one more is closed; 0: no limit, as it must be behind a proxy");
    add("--line-max", limits.line_max, "Bytes of a request line");
    add("--headers-max", limits.headers_max, "Bytes of all headers of a request");
    add("--headers-count-max", limits.headers_count_max, "Headers of a request");
    add("--body-max", limits.body_max, "Bytes of a body");
    add("--open-body-max", limits.open_body_max, "Bytes of a body where no credentials are needed");
    add("--bodies-max", limits.bodies_max, "Bytes of all bodies in memory at once, more is 503");
    add("--body-rate-min",
        limits.body_rate_min,
        "Bytes a second of a body, and of an answer's reading");
    add_ms(app, "--body-grace-ms", limits.body_grace, "By which a body may fall behind its rate");
    add_ms(app, "--header-timeout-ms", limits.header_timeout, "For all headers of a request");
    add_ms(
        app,
        "--write-timeout-ms",
        limits.write_timeout,
        "For a client that does not read its answer"
    );
    add_ms(app, "--idle-timeout-ms", limits.idle_timeout, "Of a connection without a request");
}

void add_providers(CLI::App& app, ServeOptions& options) {
    app.add_option("--stripe-url", options.stripe_url, "Where Stripe, or its stand-in, is")
        ->capture_default_str();
    app.add_flag(
        "--stripe-plain-http",
        options.stripe_plain_http,
        "Take an http:// URL of Stripe on another host: the API key passes the network in clear"
    );
    app.add_option(
        "--stripe-account",
        options.stripe_account,
        "The account of the API key, acct_...: with it a new key of the same account is no other "
        "provider for calls in doubt"
    );
    app.add_option(
           "--smtp-url",
           options.smtp_url,
           "The mail server: smtps://HOST, or smtp://HOST, which must offer STARTTLS if it is "
           "another "
           "host; smtp://HOST?tls=off sends in clear"
    )
        ->capture_default_str();
}

}  // namespace

void add_application(CLI::App& app, ServeOptions& options) {
    app.add_option("--database", options.database, "sqlite:FILE or postgres://USER@HOST/NAME")
        ->capture_default_str();
    add_providers(app, options);
    app.add_flag(
        "--charge-once",
        options.charge_once,
        "For a provider without keys: what is in doubt goes to a person"
    );
    app.add_option(
           "--secret-file", options.service.secret_file, "Secret for fingerprints; one line"
    )
        ->envname("PAWL_SECRET_FILE");
    app.add_option(
           "--mark-file",
           options.service.mark_file,
           "Outside the database: says how far it had come, so that a restored backup is noticed "
           "(default: FILE.mark beside a SQLite file, none for PostgreSQL)"
    )
        ->envname("PAWL_MARK_FILE");
    add_ms(
        app,
        "--lease-ms",
        options.service.lease,
        "How long a key is held by a server that may be dead"
    );
    add_ms(
        app,
        "--complete-after-ms",
        options.service.complete_after,
        "After the lease: time for the client to retry"
    );
    app.add_option_function<std::int64_t>(
        "--settle-after-s",
        [&options](std::int64_t s) { options.service.settle_after = std::chrono::seconds{s}; },
        "How long people may take back what they decided of a request in doubt (default 30)"
    );
    add_ms(
        app,
        "--job-lease-ms",
        options.service.job_lease,
        "How long a job is held by a worker that may be dead"
    );
    add_ms(
        app,
        "--job-timeout-ms",
        options.service.job_timeout,
        "How long a job may take; less than its lease"
    );
    app.add_option(
           "--queue",
           options.service.queue,
           "Of receipts and points: embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]"
    )
        ->envname("PAWL_QUEUE")
        ->capture_default_str();
    add_ms(app, "--phase-deadline-ms", options.service.phase_deadline, "For one transaction");
    app.add_option("--calls-max", options.service.calls_max, "Foreign calls at once")
        ->capture_default_str();
    if (const char* key = std::getenv("STRIPE_API_KEY")) options.stripe_api_key = key;
}

void add_serve(CLI::App& app, ServeOptions& options) {
    add_application(app, options);
    app.add_option("--listen", options.listen, "Address and port")->capture_default_str();
    app.add_option(
        "--http-threads",
        options.http_threads,
        "Threads for connections; 0: as many as cores, at most 4"
    );
    add_limits(app, options);
    app.add_option_function<std::int64_t>(
        "--drain-s",
        [&drain = options.service.drain](std::int64_t s) { drain = std::chrono::seconds{s}; },
        "How long a stop waits for requests at work; less than a call's time-out, 25 s, leaves "
        "calls in doubt (default 35)"
    );
    app.add_option("--access-log", options.access_log, "File of JSON lines; - is standard error");
    app.add_option(
        "--site",
        options.site,
        "Where browsers find it, https://HOST: turns on the pages, with Secure cookies; on "
        "loopback "
        "there are pages without it"
    );
    app.add_option(
        "--tokens",
        options.tokens,
        "File of lines \"token email\", or \"token email support\" for who may refund any ride; on "
        "loopback there are test riders"
    );
    app.add_option(
        "--rider",
        options.riders,
        "One more test rider, \"token email [support or a tenant]\"; on loopback only"
    );
    app.add_option(
        "--tenant-in-hand",
        options.quota.in_hand_max,
        "Requests of one tenant at work at once, more is 429; 0: no limit (default: half of "
        "--calls-max, at least 16)"
    );
    app.add_option(
        "--account-in-hand",
        options.quota.account_in_hand_max,
        "Requests of one account of a tenant at work at once, more is 429; 0: no limit (default: "
        "half of --tenant-in-hand)"
    );
    app.add_option(
           "--tenant-rate",
           options.quota.rate_per_s,
           "Requests of one tenant a second, more is 429; 0: no limit"
    )
        ->capture_default_str();
    app.add_option(
        "--tenant-burst",
        options.quota.burst,
        "So many at once after a pause (default: those of a second)"
    );
    app.add_option_function<std::vector<std::int64_t>>(
           "--retry-after-ms",
           [&layers = options.service.retry_layers](const std::vector<std::int64_t>& waits) {
               layers.clear();
               for (const auto wait : waits) layers.emplace_back(wait);
           },
           "A failed job waits in each of these in turn, then it is dead"
    )
        ->delimiter(',');
    app.add_option("--workers", options.service.workers, "Jobs at once")->capture_default_str();
}

void add_simulate(CLI::App& app, SimulateOptions& options) {
    app.add_option("--url", options.url, "Where Rocket Rides is")->capture_default_str();
    app.add_option("--token", options.tokens, "Of a rider; may be given several times")
        ->capture_default_str();
    app.add_option("--rides", options.rides, "How many")->capture_default_str();
    app.add_option("--clients", options.clients, "Phones at once")->capture_default_str();
    app.add_option("--bad-network", options.bad, "Part of all tries that the network spoils")
        ->capture_default_str();
    app.add_option(
        "--seed", options.seed, "The same seed, the same rides; without it any, which is printed"
    );
    app.add_flag("--json", options.json, "The result as one JSON object");
}

void add_provider(CLI::App& app, ProviderOptions& options) {
    app.add_option("--listen", options.listen, "Address and port of the API")
        ->capture_default_str();
    app.add_option("--smtp", options.smtp, "Address and port of the mail catcher")
        ->capture_default_str();
    app.add_option("--ledger", options.ledger, "File of what was charged")->capture_default_str();
    app.add_option("--mails", options.mails, "File of the mails")->capture_default_str();
    add_ms(app, "--delay-ms", options.delay, "Of each answer, after the charge is booked");
    app.add_flag("--down", options.down, "503 to all");
    app.add_flag("--decline", options.decline, "Every card");
    app.add_flag("!--no-ledger-sync", options.ledger_sync, "No fdatasync: for benchmarks");
    app.add_option("--first-id", options.first_id, "Of what an empty ledger books: for benchmarks");
    app.add_option_function<std::int64_t>(
        "--forget-keys-after-s",
        [&options](std::int64_t s) { options.forget_keys_after = std::chrono::seconds{s}; },
        "As Stripe does after a day"
    );
}

void check_all_decimal(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_type_name() == "INT" || option->get_type_name() == "UINT")
            option->check(pawl::check_decimal);
}

}  // namespace rides
