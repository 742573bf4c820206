#include "apps/rides/options.hpp"

#include <pawl/command_line.hpp>
#include <pawl/operating_options.hpp>

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

// Limits on what one client may cost before its request is complete.
void add_limits(CLI::App& app, ServeOptions& options) {
    auto& limits = options.limits;
    const auto add = [&](const char* name, auto& to, const char* text) {
        app.add_option(name, to, text)->capture_default_str();
    };
    add("--connections-max",
        options.connections_max,
        "Most open connections; one more closes the one that has been idle longest");
    add("--connections-per-address-max",
        options.connections_per_address_max,
        "Most connections of one client address; 0: no limit");
    app.add_option(
           "--trusted-proxies",
           options.trusted_proxies,
           "Addresses and networks of the proxies whose Forwarded and X-Forwarded-For name the "
           "client, between commas; default: none"
    )
        ->delimiter(',');
    add("--line-max", limits.line_max, "Bytes of a request line");
    add("--headers-max", limits.headers_max, "Bytes of all headers of a request");
    add("--headers-count-max", limits.headers_count_max, "Headers of a request");
    add("--body-max", limits.body_max, "Bytes of a body");
    add("--public-body-max", limits.public_body_max, "Bytes of a body without credentials");
    add("--bodies-max", limits.bodies_max, "Bytes of all bodies in memory; more get 503");
    add("--body-rate-min",
        limits.body_rate_min,
        "Slowest bytes a second of a body, and of reading an answer");
    add_ms(app, "--body-grace-ms", limits.body_grace, "How far a body may fall behind its rate");
    add_ms(app, "--header-timeout-ms", limits.header_timeout, "Time limit for the headers");
    add_ms(
        app,
        "--write-timeout-ms",
        limits.write_timeout,
        "Time limit for a client that does not read its answer"
    );
    add_ms(app, "--idle-timeout-ms", limits.idle_timeout, "Time limit without a request");
}

void add_providers(CLI::App& app, ServeOptions& options) {
    app.add_option("--stripe-url", options.stripe_url, "URL of Stripe, or of its stand-in")
        ->capture_default_str();
    app.add_flag(
        "--stripe-plain-http",
        options.stripe_plain_http,
        "Allow an http:// URL of Stripe on another host: the API key is sent unencrypted"
    );
    app.add_option(
        "--stripe-account",
        options.stripe_account,
        "Account of the API key, acct_...: another key of the account is then not another provider "
        "for calls in doubt"
    );
    app.add_option(
           "--stripe-version",
           options.stripe_version,
           "API version that Stripe is asked for; only the default is tested"
    )
        ->capture_default_str();
    app.add_option(
        "--stripe-source",
        options.stripe_source,
        "Payment source of customers that Stripe makes (default: tok_visa with a test key, else "
        "none)"
    );
    app.add_option(
           "--smtp-url",
           options.smtp_url,
           "The mail server: smtps://HOST, or smtp://HOST, which must offer STARTTLS if it is "
           "another "
           "host; smtp://HOST?tls=off sends unencrypted"
    )
        ->capture_default_str();
}

void add_other_providers(CLI::App& app, Charging& charging) {
    app.add_option(
        "--json-provider-url", charging.json_url, "URL of another provider with a JSON API"
    );
    app.add_option(
        "--text-provider-url", charging.text_url, "URL of another provider, without keys"
    );
    app.add_option(
           "--shares",
           charging.shares,
           "Shares of the charges: Stripe, the JSON and the text provider (default: 1,1,1)"
    )
        ->delimiter(',');
    app.add_option_function<std::int64_t>(
        "--ask-after-s",
        [&charging](std::int64_t s) { charging.ask_after = std::chrono::seconds{s}; },
        "After this the JSON provider is asked about an unanswered charge (default: 10)"
    );
}

}  // namespace

void add_application(CLI::App& app, ServeOptions& options) {
    app.add_option("--database", options.database, "sqlite:FILE or postgres://USER@HOST/NAME")
        ->capture_default_str();
    add_providers(app, options);
    add_other_providers(app, options.charging);
    app.add_flag(
        "--charge-once",
        options.charge_once,
        "For a provider without keys: calls in doubt go to the attention list"
    );
    app.add_option("--secret-file", options.service.secret_file, "File: the secret of fingerprints")
        ->envname("PAWL_SECRET_FILE");
    app.add_option(
           "--mark-file",
           options.service.mark_file,
           "File outside the database with its last position, so that a restored backup is noticed "
           "(default: FILE.mark beside a SQLite file, none for PostgreSQL)"
    )
        ->envname("PAWL_MARK_FILE");
    add_ms(
        app, "--lease-ms", options.service.lease, "How long a server that may be dead holds a key"
    );
    add_ms(
        app,
        "--complete-after-ms",
        options.service.complete_after,
        "Time after the lease for the client to retry"
    );
    pawl::add_keeping_options(app, options.service);
    app.add_option_function<std::int64_t>(
        "--settle-after-s",
        [&options](std::int64_t s) { options.service.settle_after = std::chrono::seconds{s}; },
        "How long a decision on the attention list can be undone (default 30)"
    );
    add_ms(
        app,
        "--job-lease-ms",
        options.service.job_lease,
        "How long a worker that may be dead holds a job"
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
           "Queue of receipts and points: embedded, redis://HOST[:PORT][/DB] or kafka://HOST[:PORT]"
    )
        ->envname("PAWL_QUEUE")
        ->capture_default_str();
    add_ms(
        app, "--phase-deadline-ms", options.service.phase_deadline, "Time limit of a transaction"
    );
    app.add_option("--calls-max", options.service.calls_max, "Foreign calls at once")
        ->capture_default_str();
    if (const char* key = std::getenv("STRIPE_API_KEY")) options.stripe_api_key = key;
}

namespace {

// How both sides are kept the same besides the calls.
void add_events(CLI::App& app, ServeOptions& options) {
    app.add_option(
        "--reconcile-at",
        options.reconcile_at,
        "When to compare the charges of the day before with Stripe's, as cron has it, in UTC: "
        "\"15 2 * * *\" (default: never)"
    );
    app.add_option(
        "--stripe-webhook-secrets",
        options.stripe_webhook_secret_file,
        "File of the secrets of Stripe's webhooks, whsec_..., one a line, newest first: turns on "
        "POST /webhooks/stripe (or STRIPE_WEBHOOK_SECRETS, separated by spaces)"
    );
    if (const char* secrets = std::getenv("STRIPE_WEBHOOK_SECRETS"))
        options.stripe_webhook_secrets = secrets;
}

}  // namespace

void add_jobs(CLI::App& app, pawl::ServiceOptions& service) {
    app.add_option_function<std::vector<std::int64_t>>(
           "--retry-after-ms",
           [&layers = service.retry_layers](const std::vector<std::int64_t>& waits) {
               layers.clear();
               for (const auto wait : waits) layers.emplace_back(wait);
           },
           "Waits between the tries of a failed job, after which it is dead"
    )
        ->delimiter(',');
    app.add_option("--workers", service.workers, "First tries of jobs at once")
        ->capture_default_str();
    app.add_option(
           "--retry-workers",
           service.retry_workers,
           "Retries at once, for each wait of --retry-after-ms; default: half of --workers in all"
    )
        ->delimiter(',');
}

void add_serve(CLI::App& app, ServeOptions& options) {
    add_application(app, options);
    app.add_option("--listen", options.listen, "Address and port")->capture_default_str();
    app.add_option(
        "--http-threads",
        options.http_threads,
        "Threads for connections; 0: as many as cores, at most 4"
    );
    add_events(app, options);
    add_limits(app, options);
    app.add_option_function<std::int64_t>(
        "--drain-s",
        [&drain = options.service.drain](std::int64_t s) { drain = std::chrono::seconds{s}; },
        "How long a stop waits for requests in flight; less than a call's time-out, 25 s, leaves "
        "calls in doubt (default 35)"
    );
    app.add_option("--access-log", options.access_log, "File of JSON lines; - is standard error");
    pawl::add_operating_options(
        app, options.operators, options.alerts, options.traces, pawl::check_decimal
    );
    app.add_option(
        "--site",
        options.site,
        "URL for browsers, https://HOST: turns on the pages, with Secure cookies; on loopback "
        "there are pages without it"
    );
    app.add_option(
        "--tokens",
        options.tokens,
        "File of lines \"token email [support] [cus_...]\": support may refund any ride; cus_... "
        "is the rider's Stripe customer, or Stripe makes one; on loopback there are test riders"
    );
    app.add_option(
        "--rider",
        options.riders,
        "Adds a test rider, \"token email [support or a tenant] [cus_...]\"; on loopback only"
    );
    app.add_option(
        "--tenant-in-flight",
        options.quota.in_flight_max,
        "Requests of one tenant in flight, more get 429; 0: no limit (default: half of "
        "--calls-max, at least 16)"
    );
    app.add_option(
        "--account-in-flight",
        options.quota.account_in_flight_max,
        "Requests of one account of a tenant in flight, more get 429; 0: no limit (default: "
        "half of --tenant-in-flight)"
    );
    app.add_option(
           "--tenant-rate",
           options.quota.rate_per_s,
           "Requests of one tenant a second, more get 429; 0: no limit"
    )
        ->capture_default_str();
    app.add_option(
        "--tenant-burst",
        options.quota.burst,
        "Requests at once after a pause (default: those of a second)"
    );
    add_jobs(app, options.service);
}

void add_simulate(CLI::App& app, SimulateOptions& options) {
    app.add_option("--url", options.url, "URL of Rocket Rides")->capture_default_str();
    app.add_option("--token", options.tokens, "Token of a rider; may be given several times")
        ->capture_default_str();
    app.add_option("--rides", options.rides, "Number of rides")->capture_default_str();
    app.add_option("--clients", options.clients, "Phones at once")->capture_default_str();
    app.add_option("--bad-network", options.bad, "Share of tries that the network spoils")
        ->capture_default_str();
    app.add_option(
        "--seed", options.seed, "Repeats the rides of a run; without it, a random one is printed"
    );
    app.add_flag("--json", options.json, "Print the result as one JSON object");
}

namespace {

void add_losses(CLI::App& app, Losses& losses) {
    app.add_option(
        "--bad-line",
        losses.bad_line,
        "Share of the charges whose request or answer is lost or late"
    );
    app.add_option("--soft-declines", losses.soft_declines, "Share that another provider may take");
    app.add_option("--hard-declines", losses.hard_declines, "Share that is refused for good");
}

}  // namespace

void add_provider(CLI::App& app, ProviderOptions& options) {
    app.add_option("--listen", options.listen, "Address and port of the API")
        ->capture_default_str();
    app.add_option("--smtp", options.smtp, "Address and port of the mail catcher")
        ->capture_default_str();
    app.add_option("--ledger", options.ledger, "File of charges")->capture_default_str();
    app.add_option("--mails", options.mails, "File of mails")->capture_default_str();
    add_ms(app, "--delay-ms", options.delay, "Delay of each answer, after the charge is booked");
    app.add_flag("--down", options.down, "Answer 503 to all requests");
    app.add_flag("--decline", options.decline, "Decline every card");
    app.add_flag("!--no-ledger-sync", options.ledger_sync, "No fdatasync: for benchmarks");
    app.add_option("--first-id", options.first_id, "First id in an empty ledger: for benchmarks");
    app.add_option_function<std::int64_t>(
        "--forget-keys-after-s",
        [&options](std::int64_t s) { options.forget_keys_after = std::chrono::seconds{s}; },
        "As Stripe does after a day"
    );
    add_losses(app, options.losses);
    app.add_option(
        "--webhook", options.events.url, "URL that gets an event of each charge and refund"
    );
    app.add_option(
        "--webhook-secret", options.events.secrets, "Signs the events; may be given several times"
    );
    app.add_option(
        "--webhook-faults",
        options.event_faults,
        "Words: early (before the answer), twice, shuffled (in another order)"
    );
}

void add_second_provider(CLI::App& app, SecondProviderOptions& options) {
    app.add_option("--listen", options.listen, "Address and port")->capture_default_str();
    app.add_option("--ledger", options.ledger, "File of payments")->capture_default_str();
    app.add_option("--pending", options.pending, "Share that is answered 202 and captured later")
        ->capture_default_str();
    add_losses(app, options.losses);
    app.add_flag("!--no-ledger-sync", options.ledger_sync, "No fdatasync: for benchmarks");
}

void check_all_decimal(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_type_name() == "INT" || option->get_type_name() == "UINT")
            option->check(pawl::check_decimal);
}

}  // namespace rides
