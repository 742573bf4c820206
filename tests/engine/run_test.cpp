#include <pawl/testing.hpp>

#include "tests/engine/shop.hpp"

// Requests that do not come over HTTP (issue 19, part 5).
namespace pawl::testing {
namespace {

struct CountRequest {
    std::int64_t by{};
    std::optional<std::string> problem() const {
        return by < 1 ? std::optional<std::string>{"by is less than 1"} : std::nullopt;
    }
};
struct Count {
    std::int64_t value{};
};

template <KeyRule Rule>
class Add {
public:
    static constexpr std::string_view name = Rule == KeyRule::none ? "add" : "add_once";
    static constexpr Settings settings{.key = Rule};
    using Started = pawl::Started<CountRequest>;
    Finish add(Tx&, const Started& at) {
        sum += at.request.by;
        return answer(200, Count{sum});
    }
    using Flow = Steps<Atomic<&Add::add>>;
    inline static std::atomic<std::int64_t> sum{0};
};
using AddUnkeyed = Add<KeyRule::none>;
using AddOptional = Add<KeyRule::optional>;

class RunTest : public ::testing::Test, protected FirstCallHeld {
protected:
    static constexpr Sql tables{
        "create_orders",
        "CREATE TABLE orders (key_id INTEGER, customer TEXT);"
        "CREATE TABLE payments (charge TEXT)",
        {}};
    static constexpr const Sql* migrations[] = {&tables};

    RunTest() {
        service.add(Order{provider});
        service.add(AddUnkeyed{});
        service.add(AddOptional{});
        AddUnkeyed::sum = AddOptional::sum = 0;
    }
    RunResult order(std::string_view key, std::string customer = "jane") {
        return service.run<Order>(jane, key, {.customer = std::move(customer)});
    }
    static std::string problem(const RunResult& result) {
        return std::get<RunProblem>(result).type;
    }

    const Principal jane{"shop", "jane"};
    Provider provider;
    TestDatabase database{"shop", migrations};
    Service service{database.database()};
};

TEST_F(RunTest, an_operation_runs_to_its_end_and_a_repeat_is_replayed) {
    const auto first = std::get<RunAnswer>(order("k"));
    const auto again = std::get<RunAnswer>(order("k"));

    EXPECT_EQ(first.response.status, 201);
    EXPECT_FALSE(first.replayed);
    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.response.body, first.response.body);
    EXPECT_EQ(provider.charges.size(), 1U);
    EXPECT_EQ(database.staged(OrderJob::kind), 1);
}

TEST_F(RunTest, another_request_or_another_caller_is_not_replayed) {
    (void)order("k");

    const auto reused = std::get<RunProblem>(order("k", "joe"));

    EXPECT_EQ(reused.type, "key-reused");
    EXPECT_FALSE(reused.retry);
    const auto of_joe = service.run<Order>({"shop", "joe"}, "k", {.customer = "jane"});
    EXPECT_FALSE(std::get<RunAnswer>(of_joe).replayed);
    EXPECT_EQ(provider.charges.size(), 2U);
}

// Issue 38, part 3.
TEST_F(RunTest, a_repeat_whose_secret_is_missing_here_may_succeed_at_another_server) {
    (void)order("k");
    static constexpr Sql lose{
        "lose_secret", "UPDATE pawl_idempotency_keys SET secret_version = 99", {}};
    store::write_now(database.database().store(), [](store::Session& session) {
        session.run(lose, {}, [](const detail::Row&) {});
    });

    const auto repeat = std::get<RunProblem>(order("k"));

    EXPECT_EQ(repeat.type, "other-server");
    EXPECT_EQ(repeat.status, 503);
    EXPECT_TRUE(repeat.retry);
    EXPECT_GT(repeat.retry_after.count(), 0);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(RunTest, a_repeat_of_a_running_request_is_told_to_come_later) {
    hold_first_call(provider);
    std::promise<RunResult> first;
    service.run<Order>(jane, "k", {.customer = "jane"}, [&](RunResult result) {
        first.set_value(std::move(result));
    });
    at_call.wait();

    const auto repeat = std::get<RunProblem>(order("k"));

    EXPECT_EQ(repeat.type, "in-progress");
    EXPECT_TRUE(repeat.retry);
    EXPECT_GT(repeat.retry_after.count(), 0);
    let_go.open();
    EXPECT_EQ(std::get<RunAnswer>(first.get_future().get()).response.status, 201);
}

TEST_F(RunTest, an_outage_of_the_provider_is_no_answer) {
    provider.next({Does::retry});

    const auto outage = std::get<RunProblem>(order("k"));

    EXPECT_EQ(outage.type, "provider-unavailable");
    EXPECT_TRUE(outage.retry);
    EXPECT_EQ(std::get<RunAnswer>(order("k")).response.status, 201);
    EXPECT_EQ(provider.charges.size(), 1U);
}

TEST_F(RunTest, the_key_is_checked_as_over_http) {
    EXPECT_EQ(problem(order("")), "key-missing");
    EXPECT_EQ(problem(order("a key")), "key-invalid");
    EXPECT_EQ(problem(order(std::string(256, 'k'))), "key-invalid");
    EXPECT_EQ(problem(service.run<AddUnkeyed>(jane, "k", {.by = 1})), "key-invalid");
    EXPECT_TRUE(provider.charges.empty());
}

TEST_F(RunTest, without_a_key_an_operation_that_needs_none_runs_each_time) {
    for (int i = 0; i < 2; ++i) {
        (void)std::get<RunAnswer>(service.run<AddUnkeyed>(jane, "", {.by = 2}));
        (void)std::get<RunAnswer>(service.run<AddOptional>(jane, "", {.by = 2}));
    }
    (void)service.run<AddOptional>(jane, "k", {.by = 2});
    (void)service.run<AddOptional>(jane, "k", {.by = 2});

    EXPECT_EQ(AddUnkeyed::sum, 4);
    EXPECT_EQ(AddOptional::sum, 6);
}

TEST_F(RunTest, a_request_that_finds_a_problem_in_itself_is_not_started) {
    const auto invalid = std::get<RunProblem>(service.run<AddOptional>(jane, "k", {.by = 0}));

    EXPECT_EQ(invalid.type, "request-invalid");
    EXPECT_EQ(invalid.status, 400);
    EXPECT_EQ(invalid.detail, "by is less than 1");
    EXPECT_EQ(AddOptional::sum, 0);
}

TEST_F(RunTest, a_request_may_be_a_json_text) {
    const auto first =
        std::get<RunAnswer>(service.run_json<Order>(jane, "k", R"({"customer":"jane","items":[]})")
        );
    const auto again = std::get<RunAnswer>(order("k"));

    EXPECT_EQ(first.response.status, 201);
    EXPECT_TRUE(again.replayed) << "the same request as a struct";
    const auto invalid =
        std::get<RunProblem>(service.run_json<AddOptional>(jane, "k", R"({"by":"one"})"));
    EXPECT_EQ(invalid.type, "request-invalid");
    EXPECT_EQ(invalid.detail, "by: Must be a number.");
    for (const auto* text : {"", "[]", "{", R"({"by":1,"to":2})", R"({"by":0})"})
        EXPECT_EQ(problem(service.run_json<AddOptional>(jane, "k", text)), "request-invalid")
            << text;
    std::promise<RunResult> ended;
    service.run_json<AddOptional>(jane, "k2", R"({"by":3})", [&](RunResult result) {
        ended.set_value(std::move(result));
    });
    EXPECT_EQ(std::get<RunAnswer>(ended.get_future().get()).response.status, 200);
}

TEST_F(RunTest, an_operation_that_was_not_added_is_a_mistake_of_the_program) {
    EXPECT_THROW(service.run<OrderOnce>(jane, "k", {.customer = "jane"}), std::logic_error);
}

TEST_F(RunTest, a_stopped_service_runs_nothing) {
    service.stop(1s);

    EXPECT_EQ(problem(order("k")), "stopping");
    EXPECT_TRUE(provider.charges.empty());
}

}  // namespace
}  // namespace pawl::testing
