#include "apps/rides/serve.hpp"

#include <pawl/log.hpp>

#include "apps/rides/book_ride.hpp"
#include "apps/rides/book_trip.hpp"
#include "apps/rides/pages/pages.hpp"
#include "apps/rides/pick_up_trip.hpp"
#include "apps/rides/receipt.hpp"
#include "apps/rides/reconcile_days.hpp"
#include "apps/rides/refund_ride.hpp"
#include "apps/rides/riders.hpp"
#include "apps/rides/small_requests.hpp"
#include "apps/rides/stripe_event_reader.hpp"
#include "apps/rides/stripe_events.hpp"
#include "apps/rides/trips.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace rides {

namespace {

Riders riders_of(const ServeOptions& options) {
    Riders riders;
    // Other machines can guess tokens.
    const bool reachable = !is_loopback(options.listen) || !options.site.empty();
    if (!options.tokens.empty()) {
        pawl::log::warn_if_others_can_read("tokens file", options.tokens);
        riders.add_file(options.tokens, reachable ? Riders::token_min : 1);
    }
    if (!is_loopback(options.listen) && !options.riders.empty())
        throw std::invalid_argument{
            "--rider is for tests, on a loopback address; put the line into the file of --tokens"};
    for (const auto& line : options.riders) riders.add_test_rider(line);
    if (!options.tokens.empty()) return riders;
    if (!is_loopback(options.listen))
        throw std::invalid_argument{
            "--tokens is missing: test riders exist only on a loopback address; give a file of "
            "lines \"token email [support] [cus_...]\""};
    riders.add("test_jane jane@example.com");
    riders.add("test_joe joe@example.com");
    riders.add("test_support support@example.com support");
    return riders;
}

// Elsewhere a stand-in's key would only get 401.
bool needs_api_key(const ServeOptions& options) {
    return options.stripe_api_key.empty() && !is_loopback_url(options.stripe_url) &&
           !options.stripe_plain_http;
}

std::string api_key_of(const ServeOptions& options) {
    if (!options.stripe_api_key.empty()) return options.stripe_api_key;
    if (is_loopback(options.listen)) return "sk_test_rocket_rides";
    throw std::invalid_argument{
        "STRIPE_API_KEY is not set: a test value exists only on a loopback address"};
}

// With a test key no money moves, and a customer without a source can't be charged: Stripe's test
// card. With a live key a rider's card is the rider's own.
std::optional<std::string> source_of(const ServeOptions& options) {
    if (!options.stripe_source.empty()) return options.stripe_source;
    const auto key = api_key_of(options);
    if (key.starts_with("sk_test_") || key.starts_with("rk_test_")) return "tok_visa";
    return std::nullopt;
}

// The customer of the tokens file replaces a stored one.
void give_customer(pawl::Tx& tx, const std::string& email, const std::string& customer) {
    const auto owner = pawl::query_maybe<std::string>(tx, sql::find_rider_of_customer, customer);
    if (!owner) return pawl::send(tx, sql::set_customer, email, customer);
    if (*owner != email)
        throw std::invalid_argument{
            "the customer " + customer + " of " + email + " is the customer of " + *owner +
            " in the database"};
}

// Other servers' requests write the same rows meanwhile: in one snapshot each of their commits
// would fail it.
void make_users(pawl::Database& database, const Riders& riders) {
    database.write(
        [&](pawl::Tx& tx) {
            for (const auto& [email, support, customer] : riders.accounts()) {
                (void)pawl::query<std::int64_t>(tx, sql::insert_user, email, no_customer);
                pawl::send(tx, sql::set_role, email, support ? "support" : "rider");
                if (customer) give_customer(tx, email, *customer);
            }
        },
        pawl::Isolation::read_committed
    );
}

// The target of each provider is a setting, too: a server without that provider then leaves its
// calls to this one.
void add_providers(pawl::Service& service, const pawl::Router* router, const Charging& charging) {
    std::string all;
    std::string shares;
    if (router != nullptr)
        for (const auto& provider : router->providers()) {
            all += (all.empty() ? "" : ", ") + provider.target();
            shares += (shares.empty() ? "" : ", ") + std::to_string(provider.share);
            service.add_setting("provider " + provider.target(), provider.target());
        }
    service.add_setting("providers", all.empty() ? "stripe" : all);
    service.add_setting("shares", shares.empty() ? "1" : shares);
    service.add_setting("ask_after", std::to_string(charging.ask_after.count()) + " s");
}

}  // namespace

Application::Application(const ServeOptions& options, pawl::Database::As as)
    : stripe_{
          {.url = options.stripe_url,
           .api_key = api_key_of(options),
           .account = options.stripe_account,
           .version = options.stripe_version},
          options.service.calls_max},
      database_{pawl::Database::open(options.database, as)} {
    if (as != pawl::Database::As::tool) database_->migrate("rides", sql::migrations::all);
    service_ = std::make_unique<pawl::Service>(*database_, options.service);
    if (options.charging.several()) {
        providers_.emplace(stripe_, options.charging, options.service.calls_max);
        service_->add(BookRideRouted{*providers_, source_of(options)});
    } else if (options.charge_once)
        service_->add(BookRideChargedOnce{stripe_, source_of(options)});
    else
        service_->add(BookRide{stripe_, source_of(options)});
    service_->add(RefundRide{stripe_});
    service_->add(BookTrip{stripe_, source_of(options)});
    service_->add(PickUpTrip{stripe_});
    service_->add(CancelRide{});
    service_->add(PutUser{});
    service_->add(PayBackWorker{stripe_});
    service_->add(PointsWorker{});
    service_->add(ReceiptWorker{options.smtp_url});
    service_->add(ReceiveEvent{});
    service_->add(EventWorker{*service_, stripe_.target()});
    service_->add(DaysWorker{});
    service_->add(DayWorker{*database_, stripe_});
    service_->add_setting("stripe", stripe_.target());
    service_->add_setting("charge_once", options.charge_once ? "yes" : "no");
    add_providers(*service_, providers_ ? &providers_->router : nullptr, options.charging);
    if (!options.reconcile_at.empty())
        service_->every(options.reconcile_at, [](pawl::TimePoint tick) {
            return CompareDays{tick};
        });
}

namespace {

// None: there is no route for webhooks.
std::vector<std::string> webhook_secrets_of(const ServeOptions& options) {
    std::string text = options.stripe_webhook_secrets;
    if (const auto& name = options.stripe_webhook_secret_file; !name.empty()) {
        pawl::log::warn_if_others_can_read("file of webhook secrets", name);
        std::ifstream file{name};
        if (!file) throw std::invalid_argument{"the file " + name + " can't be read"};
        text.assign(std::istreambuf_iterator<char>{file}, {});
    }
    std::istringstream words{text};
    std::vector<std::string> secrets{std::istream_iterator<std::string>{words}, {}};
    for (const auto& secret : secrets)
        if (secret.size() < 16)
            throw std::invalid_argument{
                "a webhook secret has fewer than 16 characters: copy whsec_... from Stripe"};
    return secrets;
}

// These go into a header or a form as they are.
std::optional<std::string> word_problem(std::string_view name, const std::string& value) {
    const bool plain =
        std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (plain) return std::nullopt;
    return std::string{name} + " has a space or another character that it can't have";
}

}  // namespace

std::optional<std::string> ServeOptions::problem() const {
    const auto begins = [](const std::string& url, std::string_view with) {
        return url.size() > with.size() && url.starts_with(with);
    };
    if (listen.find(':') == listen.npos)
        return "--listen is " + listen + ": an address and a port, such as 127.0.0.1:8080";
    if (!begins(stripe_url, "http://") && !begins(stripe_url, "https://"))
        return "--stripe-url is " + stripe_url + ": http:// or https:// and a host";
    if (begins(stripe_url, "http://") && !is_loopback_url(stripe_url) && !stripe_plain_http)
        return "--stripe-url is " + stripe_url +
               ": http sends the API key and the charges unencrypted; give https, or "
               "--stripe-plain-http to allow it";
    if (needs_api_key(*this))
        return "STRIPE_API_KEY is not set: the server at --stripe-url " + stripe_url + " needs it";
    if (charging.several() && charge_once)
        return "--charge-once is for one provider: a router knows which of several has no keys";
    for (const auto* url : {&charging.json_url, &charging.text_url})
        if (!url->empty() && !begins(*url, "https://") && !is_loopback_url(*url))
            return "a provider's URL is " + *url + ": https://, or http:// on a loopback address";
    if (charging.ask_after.count() < 0 || charging.ask_after > std::chrono::hours{24})
        return "--ask-after-s is " + std::to_string(charging.ask_after.count()) + ": 0 to 86400";
    if (charging.shares.size() > 3)
        return "--shares has " + std::to_string(charging.shares.size()) +
               " numbers: of Stripe, the JSON and the text provider";
    if (auto why = word_problem("--stripe-version", stripe_version)) return why;
    if (auto why = word_problem("--stripe-source", stripe_source)) return why;
    if (auto why = word_problem("STRIPE_API_KEY", stripe_api_key)) return why;
    if (auto why = smtp_problem(smtp_url)) return why;
    if (auto why = site_problem(site)) return why;
    const auto folder = std::filesystem::path{access_log}.parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        return "--access-log is " + access_log + ": there is no folder " + folder.string();
    return std::nullopt;
}

namespace {

// Without `pages`, only what the API's clients need.
pawl::HttpOptions http_options(
    const ServeOptions& options, const Riders& riders, const Pages* pages
) {
    pawl::HttpOptions http{
        .listen = options.listen,
        .authenticate =
            [&riders, pages](const pawl::RequestHead& head) {
                if (pages == nullptr || head.count("Authorization") > 0) return riders.find(head);
                return pages->signed_in(head);
            },
        .realm = "Rocket Rides",
        .access_log = options.access_log,
        .connections_max = options.connections_max,
        .connections_per_address_max = options.connections_per_address_max,
        .trusted_proxies = options.trusted_proxies,
        .threads = options.http_threads,
        .limits = options.limits,
        .quota = options.quota};
    if (pages == nullptr) return http;
    http.browser.present = [pages](const pawl::Shown& what) { return pages->present(what); };
    http.browser.from_own_page = [pages](const pawl::RequestHead& head, std::string_view token) {
        return pages->from_own_page(head, token);
    };
    return http;
}

void add_settings(
    pawl::Service& service, const ServeOptions& options, const std::vector<std::string>& webhooks
) {
    const auto text_of = [](const std::string& path) {
        std::ifstream file{path};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    std::string secrets;
    for (const auto& secret : webhooks) secrets += secret + '\n';
    service.add_secret_setting("tokens", options.tokens.empty() ? "" : text_of(options.tokens));
    service.add_secret_setting("webhook_secrets", secrets);
    service.add_setting("site", options.site);
}

void add_routes(pawl::HttpServer& server, const ServeOptions& options) {
    server.post<BookRide>("/rides");
    server.get("/rides", ListRides{});
    server.get("/rides/{id}", ShowRide{});
    server.get("/bookings/{key}", ShowBooking{});
    server.del<CancelRide>("/rides/{id}");
    server.post<RefundRide>("/rides/{id}/refund");
    server.put<PutUser>("/users/{email}");
    server.get("/trips/{id}", ShowTrip{});
    // The payments of a trip are made again under their keys.
    if (options.charge_once) return;
    server.post<BookTrip>("/trips");
    server.post<PickUpTrip>("/trips/{id}/pick-up");
}

}  // namespace

std::string openapi() {
    ServeOptions options;
    options.listen = "127.0.0.1:0";
    options.database = "sqlite::memory:";
    Application application{options, pawl::Database::As::server};
    pawl::HttpServer server{application.service(), http_options(options, Riders{}, nullptr)};
    add_routes(server, options);
    return server.openapi("Rocket Rides", "1");
}

int serve(const ServeOptions& options) {
    if (auto why = options.problem()) throw std::invalid_argument{*why};
    pawl::block_end_signals();
    const pawl::Alerts alerts{options.alerts};
    const auto riders = riders_of(options);
    Application application{options, pawl::Database::As::server};
    make_users(application.database(), riders);
    EndedSessions ended;
    using Servers = EndedSessionsInDatabase::Servers;
    // A SQLite file has one server.
    const auto servers = options.database.starts_with("sqlite:") ? Servers::one : Servers::several;
    EndedSessionsInDatabase ended_in_database{application.database(), ended, servers};
    const Sessions sessions{
        application.service().secret_for("sessions of riders"), options.site, riders, ended};
    pawl::SignInLimit limit;
    const pawl::Traces traces{application.service(), options.traces};
    const Pages pages{
        {.sessions = sessions, .limit = limit, .end_session = [&](EndedSession session) {
             ended_in_database.end(std::move(session));
         }}};
    const bool has_pages = !options.site.empty() || is_loopback(options.listen);
    pawl::HttpServer server{
        application.service(), http_options(options, riders, has_pages ? &pages : nullptr)};
    add_routes(server, options);
    auto secrets = webhook_secrets_of(options);
    add_settings(application.service(), options, secrets);
    if (!secrets.empty())
        server.webhook(
            "/webhooks/stripe",
            stripe_webhook(
                application.service(),
                std::move(secrets),
                identity_of(api_key_of(options), options.stripe_account)
            )
        );
    if (has_pages) pages.add_to(server);
    std::fprintf(stderr, "rides: listening on port %u\n", static_cast<unsigned>(server.port()));
    return pawl::run_until_signal(application.service(), server, options.operators);
}

}  // namespace rides
