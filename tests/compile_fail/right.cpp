// A right program. tests/compile_fail/check makes each wrong one from it by changing a few words,
// so that it differs only by its mistake. This one must compile. A wrong program has only the parts
// where words change, and what stands before the first part.
#include <pawl/call.hpp>
#include <pawl/client.hpp>
#include <pawl/http.hpp>
#include <pawl/json.hpp>
#include <pawl/lease.hpp>
#include <pawl/locks.hpp>
#include <pawl/once_per_window.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>
#include <pawl/service.hpp>
#include <pawl/tx.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using pawl::Atomic, pawl::Call, pawl::Finish, pawl::Foreign, pawl::KeyedCall, pawl::Next,
    pawl::Outcome, pawl::Repeat, pawl::Steps, pawl::Tx;

struct RideRequest {
    double lat{};
    std::optional<std::string> problem() const { return std::nullopt; }
};
struct RideId {
    std::int64_t value{};
};
struct Charge {
    std::string id;
};
struct Declined {
    std::string why;
};
enum class Class { rocket, balloon };
struct SendReceipt {
    static constexpr std::string_view kind = "send_receipt";
    RideId ride{};
    std::optional<Class> flown{};
};
struct Place {
    double lat{};
};

constexpr pawl::Statement<2> insert_ride{
    "insert_ride", "INSERT INTO rides VALUES ($1, $2) RETURNING id", {}};

// Part: a struct as arguments

// As tools/embed_sql makes it of a statement that names its parameters.
constexpr pawl::Statement<2> insert_user{
    pawl::detail::counted,
    "insert_user",
    "INSERT INTO users VALUES ($1, $2)",
    {},
    {"email", "customer"}};
struct User {
    std::string_view email, customer;
};
void insert(pawl::detail::Session& session, const User& user) {
    pawl::detail::send_fields<insert_user>(session, user);
}

// Part: an operation with a foreign call

struct Stripe {
    Outcome<Charge, Declined> charge(KeyedCall& call) { return Charge{call.key().text}; }
};

class BookRide {
public:
    static constexpr std::string_view name = "book_ride";
    explicit BookRide(Stripe& stripe) : stripe_{stripe} {}

    using Started = pawl::Started<RideRequest>;
    struct RideCreated {
        static constexpr std::string_view name = "ride_created";
        RideId ride{};
    };
    struct ChargeCreated {
        static constexpr std::string_view name = "charge_created";
        RideId ride{};
        std::string charge;
        std::vector<Class> classes{};
    };

    Next<RideCreated> create_ride(Tx& tx, const Started& at) {
        return RideCreated{pawl::query_one<RideId>(tx, insert_ride, at.key_id, at.request.lat)};
    }
    Outcome<Charge, Declined> charge_card(KeyedCall& call, const RideCreated&) {
        return stripe_.charge(call);
    }
    Next<ChargeCreated> keep_charge(Tx&, const RideCreated& at, const Charge& charge) {
        return ChargeCreated{at.ride, charge.id};
    }
    Finish refuse_ride(Tx&, const RideCreated&, const Declined& declined) {
        return pawl::answer(402, declined);
    }
    Finish finish_ride(Tx& tx, const ChargeCreated& at) {
        tx.stage(SendReceipt{at.ride});
        return pawl::answer(201, at.ride);
    }
    Finish abandon(Tx&, const RideCreated& at, const pawl::Abandoned&) {
        return pawl::answer(410, at.ride);
    }

    using Flow = Steps<
        Atomic<&BookRide::create_ride>,
        Foreign<
            Repeat::safe_with_key,
            &BookRide::charge_card,
            &BookRide::keep_charge,
            &BookRide::refuse_ride>,
        Atomic<&BookRide::finish_ride>>;

private:
    Stripe& stripe_;
};
static_assert(pawl::checked<BookRide>());

void use(pawl::Service& service, pawl::HttpServer& server, Stripe& stripe) {
    service.add(BookRide{stripe});
    server.post<BookRide>("/rides");
}

// Part: an operation without a key

class CancelRide {
public:
    static constexpr std::string_view name = "cancel_ride";
    static constexpr pawl::Settings settings{.key = pawl::KeyRule::none};
    using Started = pawl::Started<RideRequest>;
    Finish cancel(Tx&, const Started&) const noexcept { return pawl::answer(200, Place{}); }
    using Flow = Steps<Atomic<&CancelRide::cancel>>;
};
static_assert(pawl::checked<CancelRide>());

void use(pawl::Service& service) {
    service.add(CancelRide{});
}

// Part: a call to one of several providers, with an inquiry

class PayPilot {
public:
    static constexpr std::string_view name = "pay_pilot";
    explicit PayPilot(pawl::Router& router) : router_{router} {}
    using Started = pawl::Started<RideRequest>;
    struct Ordered {
        static constexpr std::string_view name = "ordered";
        std::int64_t cents{};
    };
    Next<Ordered> order(Tx&, const Started&) { return Ordered{100}; }
    pawl::Routing route(const Ordered& at) const { return {router_, {at.cents, "usd"}}; }
    Outcome<Charge, Declined, pawl::TryNext<Declined>> pay(pawl::RoutedCall&, const Ordered&) {
        return pawl::TryNext{Declined{"another bank may"}};
    }
    pawl::Inquiry<Charge, Declined> ask(pawl::InquiryCall&, const Ordered&) {
        return pawl::NotFound{.final_after = std::chrono::seconds{60}};
    }
    Finish keep_payment(Tx&, const Ordered&, const Charge& charge) {
        return pawl::answer(201, charge);
    }
    Finish keep_decline(Tx&, const Ordered&, const Declined& declined) {
        return pawl::answer(402, declined);
    }
    using Flow = Steps<
        Atomic<&PayPilot::order>,
        pawl::Routed<
            &PayPilot::route,
            &PayPilot::pay,
            &PayPilot::ask,
            &PayPilot::keep_payment,
            &PayPilot::keep_decline>>;

private:
    pawl::Router& router_;
};
static_assert(pawl::checked<PayPilot>());

// Part: a handler of jobs

class PointsWorker {
public:
    pawl::JobResult work(Tx&, const pawl::Job<SendReceipt>&) const noexcept { return pawl::done; }
};

void work(pawl::Service& service) {
    service.add(PointsWorker{});
}

// Part: a query

class ListRides {
public:
    static constexpr std::string_view name = "list_rides";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<RideRequest>& at) const {
        return pawl::respond(
            200, Place{pawl::query_one<double>(read, insert_ride, 1, at.request.lat)}
        );
    }
};

void list(pawl::HttpServer& server) {
    server.get("/rides", ListRides{});
}

// Part: leases and locks

// Writes under a lease are behind its fence, and a phase that reads before it writes holds a lock.
class CloseBooks {
public:
    static constexpr pawl::OncePerWindow close{.action = "close", .window = std::chrono::hours{1}};

    static void close_books(Tx& tx, const pawl::Lease& lease) {
        pawl::check_fencing_token(tx, lease.fencing_token());
        pawl::tx_lock(tx, "books");
        (void)close.run(tx, {"rides", "jane"}, [] { return RideId{7}; });
    }
    static void warm_up(const pawl::EfficiencyLease& spare, Tx&) { (void)spare.is_held(); }
};

// The example of once_per_window.hpp.
class BookOnce {
public:
    static constexpr std::string_view name = "book_once";
    static constexpr pawl::OncePerWindow order{.action = "order", .window = 5s};
    struct Request {
        std::string target;
    };
    using Started = pawl::Started<Request>;
    Finish book(Tx& tx, const Started& at) {
        const auto ride = order.run(tx, at.principal, at.request.target, [&] {
            return pawl::query_one<RideId>(tx, insert_ride, 1, 47.6);
        });
        if (!ride.first) return pawl::answer(200, ride.value);  // Its own answer is on its way.
        return pawl::answer(201, ride.value);
    }
    using Flow = Steps<Atomic<&BookOnce::book>>;
};
void add_once(pawl::Service& service) {
    service.add(BookOnce{});
}

// Part: a client

void call_out(pawl::Client& client) {
    const auto key = pawl::ClientKey::saved("kept by us");
    (void)client.post("/rides", "{}", key);
    (void)client.send_once({.method = "POST", .target = "/rides"});
}
