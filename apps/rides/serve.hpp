#pragma once

#include <pawl/alerts.hpp>
#include <pawl/http.hpp>
#include <pawl/operator_server.hpp>
#include <pawl/service.hpp>
#include <pawl/traces.hpp>

#include "apps/rides/book_ride_routed.hpp"
#include "apps/rides/stripe.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rides {

struct ServeOptions {
    std::string listen{"127.0.0.1:8080"};
    std::string database{"sqlite:rides.db"};
    std::string stripe_url{"http://127.0.0.1:12111"};
    bool stripe_plain_http{false};  // Allows http:// to another host.
    std::string smtp_url{"smtp://127.0.0.1:12525"};
    std::string stripe_account;  // The account of the API key, "acct_..."; may be empty.
    std::string stripe_api_key;  // From STRIPE_API_KEY; for the stand-in on loopback a test value.
    std::string stripe_version{Stripe::tested_version};
    // The payment source of customers that Stripe makes. Empty: tok_visa with a test key, else
    // none.
    std::string stripe_source;
    // A file of the secrets of Stripe's webhooks, one a line, newest first; empty: the next member.
    std::string stripe_webhook_secret_file{};
    std::string stripe_webhook_secrets{};  // Separated by spaces: STRIPE_WEBHOOK_SECRETS.
    // When the charges of the day before are compared with Stripe's, as cron has it, in UTC; empty:
    // never.
    std::string reconcile_at{};
    bool charge_once{// Stripe's stand-in ignores keys: charge at most once; calls in doubt go to
                     // the attention list.
                     false};
    Charging charging;
    std::string access_log;
    pawl::OperatorOptions operators;
    pawl::TraceOptions traces{.service = "rides"};
    pawl::AlertOptions alerts;
    int http_threads{0};  // 0: as many as there are cores, at most 4.
    // A file of lines "token email [support]"; on loopback, test riders without it.
    std::string tokens;
    // More test riders, "token email [support or a tenant]"; on loopback only.
    std::vector<std::string> riders;
    // URL for browsers, "https://rides.example". On loopback it may be empty, for HTTP; elsewhere
    // there are no pages without it.
    std::string site;
    int connections_max{4096};
    int connections_per_address_max{1024};  // 0: no limit.
    std::vector<std::string> trusted_proxies;
    pawl::HttpLimits limits;
    pawl::TenantQuota quota;
    pawl::ServiceOptions service{.call_timeout = Stripe::timeout};

    std::optional<std::string> problem() const;  // Names the option, the value and the requirement.
};

// The operations of Rocket Rides on a database, shared by `rides serve` and the commands on keys.
class Application {
public:
    Application(const ServeOptions& options, pawl::Database::As as);
    pawl::Service& service() { return *service_; }
    pawl::Database& database() { return *database_; }
    Stripe& stripe() { return stripe_; }

private:
    Stripe stripe_;
    std::optional<BookRideRouted::Providers> providers_;
    std::unique_ptr<pawl::Database> database_;
    std::unique_ptr<pawl::Service> service_;
};

int serve(const ServeOptions& options);  // Runs until SIGTERM. Throws on a failed start.
std::string openapi();                   // The OpenAPI document of the routes.

}  // namespace rides
