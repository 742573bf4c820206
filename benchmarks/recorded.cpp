#include "benchmarks/recorded.hpp"

#include "apps/rides/book_ride.hpp"
#include "rides/migrations.hpp"
#include "rides/statements.hpp"
#include "src/engine/clock.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/random.hpp"
#include "src/store/migrate.hpp"
#include "src/store/sqlite/sqlite_store.hpp"
#include "store/migrations.hpp"

#include <future>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

// Writes down each statement that passes.
class RecordingSession final : public pawl::store::Session {
public:
    RecordingSession(pawl::store::Session& inner, Transaction& into) : inner_{inner}, into_{into} {}
    std::int64_t run(
        const pawl::Sql& statement, std::span<const pawl::store::Value> parameters,
        pawl::detail::FunctionRef<void(const pawl::store::Row&)> each
    ) override {
        auto& made = into_.emplace_back(Statement{std::string{statement.name}, std::string{statement.sqlite}, {}});
        for (const auto& value : parameters)
            made.parameters.push_back(std::visit(
                [](const auto& v) -> Parameter {
                    if constexpr (std::same_as<std::remove_cvref_t<decltype(v)>, std::string_view>)
                        return std::string{v};
                    else
                        return v;
                },
                value
            ));
        return inner_.run(statement, parameters, each);
    }
    void run_script(const pawl::Sql& script) override { inner_.run_script(script); }
    void savepoint() override { inner_.savepoint(); }
    void roll_back_to() override { inner_.roll_back_to(); }
    void release() override { inner_.release(); }
    pawl::TimePoint now() override { return inner_.now(); }

private:
    pawl::store::Session& inner_;
    Transaction& into_;
};

class RecordingStore final : public pawl::store::Store {
public:
    RecordingStore(pawl::store::Store& inner, std::vector<Transaction>& into) : inner_{inner}, into_{into} {}
    using pawl::store::Store::write;
    void write(std::unique_ptr<pawl::store::Work> work, pawl::store::Urgency urgency) override {
        auto shared = std::shared_ptr<pawl::store::Work>{std::move(work)};
        inner_.write(
            pawl::store::work(
                [this, shared](pawl::store::Session& session) {
                    RecordingSession recording{session, into_.emplace_back()};
                    shared->run(recording);
                },
                [shared](std::exception_ptr failed) { shared->done(std::move(failed)); }
            ),
            urgency
        );
    }
    void read(std::unique_ptr<pawl::store::Work> work) override { inner_.read(std::move(work)); }
    std::optional<std::string_view> text_of(const pawl::Sql& statement) const override { return inner_.text_of(statement); }
    void stop() override { inner_.stop(); }

private:
    pawl::store::Store& inner_;
    std::vector<Transaction>& into_;
};

void execute(pawl::store::Store& store, const std::string& text) {
    const pawl::Sql sql{"bench", text, {}};
    pawl::store::write_now(store, [&](pawl::store::Session& session) { session.run(sql, {}, [](const pawl::store::Row&) {}); });
}

pawl::engine::KeyedRequest ride_request(pawl::engine::Engine& engine) {
    pawl::engine::KeyedRequest request;
    request.operation = engine.find(rides::BookRide::name);
    request.principal = {"rides", "jane@example.com"};
    request.key = recorded_key;
    request.method = "POST";
    request.path = "/rides";
    request.origin = "127.0.0.1";
    pawl::detail::RequestFields fields;
    (void)fields.add_json(R"({"origin_lat":47.61,"origin_lon":-122.33,"target_lat":47.66,"target_lon":-122.35})");
    request.request = std::get<pawl::detail::Anything>(request.operation->request(fields));
    request.params = request.operation->encode_request(request.request.get());
    request.fingerprint = std::string(64, 'f');
    return request;
}

}  // namespace

std::vector<Transaction> record_ride(const std::string& folder, const std::string& stripe_url) {
    auto& clock = pawl::engine::system_clock();
    auto& random = pawl::engine::system_random();
    pawl::sqlite::SqliteStore store{{.path = folder + "/rides.db"}, clock};
    pawl::store::apply_migrations(store, "pawl", pawl::sql::migrations::all);
    pawl::store::apply_migrations(store, "rides", rides::sql::migrations::all);
    execute(store, "INSERT INTO users (email, stripe_customer_id) VALUES ('jane@example.com', 'cus_jane')");
    // So that the ids are known among all numbers.
    execute(store, "INSERT INTO sqlite_sequence (name, seq) VALUES ('key_registry', 1000000)");
    execute(store, "INSERT INTO rides VALUES (3000000, '', NULL, 0, 0, 0, 0, 'booked', 0, 'usd', NULL, NULL, 1)");

    std::vector<Transaction> transactions;
    RecordingStore recording{store, transactions};
    pawl::http::Transfers transfers{{}};
    rides::Stripe stripe{transfers, stripe_url, "sk_test_rocket_rides"};
    auto installation = pawl::engine::open_installation(store, clock, random, "");
    {
        pawl::engine::Engine engine{{recording, clock, random}, {}, installation};
        engine.add(pawl::detail::form_of<rides::BookRide>(std::make_shared<rides::BookRide>(stripe)));
        std::promise<pawl::engine::Answer> ended;
        engine.handle(ride_request(engine), [&](pawl::engine::Answer answer) { ended.set_value(std::move(answer)); });
        const auto answer = ended.get_future().get();
        const auto* settled = std::get_if<pawl::engine::Settled>(&answer);
        if (settled == nullptr) throw std::runtime_error{"the recorded ride: " + std::get<pawl::engine::Refused>(answer).detail};
        if (settled->response.status != 201) throw std::runtime_error{"the recorded ride: " + settled->response.body};
        engine.stop(std::chrono::seconds{5});
    }
    // The numbers start again where they did; the row of ride 3000000 stays for that.
    for (const char* table : {"key_registry", "idempotency_keys", "rides WHERE id > 3000000", "audit_records", "jobs"})
        execute(store, std::string{"DELETE FROM "} + table);
    execute(store, "UPDATE sqlite_sequence SET seq = 1000000 WHERE name = 'key_registry'");
    store.stop();
    return transactions;
}

}  // namespace bench
