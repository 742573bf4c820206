#include <pawl/detail/erased_operation.hpp>
#include <pawl/http.hpp>
#include <pawl/service.hpp>
#include <pawl/testing.hpp>

#include "tests/typed/trip.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

// An operation without its types: every shape that compiles is driven through its form, as by the
// engine. Between steps each point and result passes through its stored text, as after a restart.
namespace pawl::detail {
namespace {

using testing::FakeCall, testing::TestDatabase;
using trips::AskPrice, trips::RocketTrip;

struct Told {
    std::vector<std::string> points;
    Response response;
};

class FormTest : public ::testing::Test {
protected:
    static ErasedValue request_of(const ErasedOperation& form, std::string_view json) {
        RequestFields fields;
        EXPECT_FALSE(fields.add_json(json).has_value());
        auto request = form.request(fields);
        if (auto* problem = std::get_if<DecodeProblem>(&request)) {
            ADD_FAILURE() << text_of(*problem);
            return nullptr;
        }
        return std::get<ErasedValue>(std::move(request));
    }
    static ErasedValue stored(const auto& codec, const ErasedValue& value) {
        return std::get<ErasedValue>(codec.decode(codec.encode(value.get())));
    }
    static ErasedValue start(const ErasedOperation& form, std::string_view json) {
        return form.start(
            {.key_id = 7, .principal = {"t", "jane"}, .origin = "::1"}, request_of(form, json).get()
        );
    }

    CallOutcome call(const ErasedOperation& form, std::size_t step, const ErasedValue& at) {
        FakeCall made{std::string(64, 'c')};
        return form.steps.at(step).call(form.op.get(), made.keyed(), at.get());
    }
    StepOutcome move(const ErasedOperation& form, std::size_t step, const ErasedValue& at) {
        const auto& now = form.steps.at(step);
        if (!now.foreign)
            return database.in_tx([&](Tx& tx) { return now.run(form.op.get(), tx, at.get()); });
        auto arrival = std::get<CallResult>(call(form, step, at));
        arrival.value = stored(now.results.at(arrival.result), arrival.value);
        return database.in_tx([&](Tx& tx) { return now.keep(form.op.get(), tx, at.get(), arrival); }
        );
    }
    Told drive(const ErasedOperation& form, std::string_view json) {
        Told told;
        std::size_t step = 0;
        for (auto at = start(form, json);;) {
            told.points.emplace_back(form.steps.at(step).from);
            auto moved = move(form, step, at);
            if (auto* answer = std::get_if<Answer>(&moved)) {
                told.response = std::move(answer->response);
                return told;
            }
            step = std::get<ReachedPoint>(moved).step;
            at = stored(form.steps.at(step), std::get<ReachedPoint>(moved).point);
        }
    }

    TestDatabase database;
    ErasedOperation trip{erase_operation(std::make_shared<RocketTrip>())};
    ErasedOperation price{erase_operation(std::make_shared<AskPrice<Repeat::never>>())};
};

TEST_F(FormTest, two_calls_in_a_row_can_take_the_shorter_path) {
    const auto told = drive(
        trip, R"({"legs":[{"from":{"lat":1.5},"to":{"lat":2,"name":"B"},"classes":["first"]}]})"
    );

    EXPECT_EQ(
        told.points, (std::vector<std::string>{"started", "planned", "seated", "paid_in_full"})
    );
    EXPECT_EQ(told.response.status, 201);
    EXPECT_EQ(told.response.body, R"({"paid":{"id":"cccc","parts":[100]}})");
}

TEST_F(FormTest, a_keeper_with_two_targets_can_take_either_path) {
    const auto told = drive(
        trip, R"({"legs":[{"from":{"lat":1},"to":{"lat":2},"classes":[]}],"wanted":"first"})"
    );

    EXPECT_EQ(
        told.points,
        (std::vector<std::string>{"started", "planned", "seated", "paid_in_part", "paid_in_full"})
    );
}

TEST_F(FormTest, each_result_reaches_its_own_keeper) {
    const auto leg = std::string{R"({"from":{"lat":1},"to":{"lat":2},"classes":[]})"};

    const auto told = drive(trip, R"({"legs":[)" + leg + "," + leg + "," + leg + "]}");

    EXPECT_EQ(told.response.status, 409);
    EXPECT_EQ(told.response.body, R"({"why":"too far"})");
}

TEST_F(FormTest, an_operation_may_begin_with_a_call) {
    const auto told = drive(price, R"({"legs":2})");

    EXPECT_EQ(told.points, std::vector<std::string>{"started"});
    EXPECT_EQ(told.response.body, R"({"id":"jane","parts":[]})");
}

TEST_F(FormTest, a_call_without_a_result_has_its_kind_and_reason) {
    const auto retry = call(price, 0, start(price, R"({"legs":0})"));
    const auto doubt = call(price, 0, start(price, R"({"legs":1})"));

    ASSERT_TRUE(std::holds_alternative<Retry>(retry));
    EXPECT_EQ(std::get<Retry>(retry).why, "closed");
    ASSERT_TRUE(std::holds_alternative<InDoubt>(doubt));
    EXPECT_EQ(std::get<InDoubt>(doubt).why, "cut off");
}

TEST_F(FormTest, a_step_lists_where_it_may_lead) {
    using Names = std::vector<std::string_view>;

    ASSERT_EQ(trip.steps.size(), 5U);
    EXPECT_EQ(trip.steps[0].leads_to, (Names{"planned", "finished"}));
    EXPECT_EQ(trip.steps[1].leads_to, (Names{"seated", "finished"}));
    EXPECT_EQ(trip.steps[2].leads_to, (Names{"paid_in_part", "paid_in_full", "finished"}));
    EXPECT_EQ(trip.steps[4].leads_to, Names{"finished"});
}

TEST_F(FormTest, a_result_has_its_own_name_or_that_of_its_type) {
    ASSERT_EQ(trip.steps[1].results.size(), 2U);
    EXPECT_EQ(trip.steps[1].results[0].name, "SeatFound");
    EXPECT_EQ(trip.steps[1].results[1].name, "SoldOut");
}

TEST_F(FormTest, settings_are_those_of_the_class_or_the_default) {
    EXPECT_EQ(trip.settings.scope, Scope::tenant);
    EXPECT_EQ(trip.settings.provider_key_lifetime, 5h);
    EXPECT_EQ(trip.settings.in_progress.wait, 3s);
    ASSERT_TRUE(trip.settings.keep.has_value());
    EXPECT_EQ(*trip.settings.keep, for_ever);
    EXPECT_EQ(price.settings.scope, Scope::account);
    EXPECT_EQ(price.settings.key, KeyRule::required);
    EXPECT_EQ(price.settings.isolation, Isolation::repeatable_read);
    EXPECT_EQ(price.settings.in_progress.wait, 0s);
    EXPECT_FALSE(price.settings.re_execute);
    EXPECT_FALSE(price.settings.keep.has_value());
}

TEST_F(FormTest, abandon_belongs_to_the_point_that_it_takes) {
    EXPECT_NE(trip.steps[1].abandon, nullptr);
    EXPECT_EQ(trip.steps[2].abandon, nullptr);
    EXPECT_EQ(price.steps[0].abandon, nullptr);
}

TEST_F(FormTest, an_old_name_leads_to_the_step_of_the_new_one) {
    EXPECT_EQ(trip.step_from("charged"), 4U);
    EXPECT_EQ(trip.step_from("paid_in_full"), 4U);
    EXPECT_EQ(trip.step_from("waiting"), std::nullopt);
    EXPECT_EQ(trip.dropped, std::vector<std::string_view>{"waiting"});
}

TEST_F(FormTest, a_request_checks_itself_before_anything_is_written) {
    RequestFields fields;
    ASSERT_FALSE(fields.add_json(R"({"legs":-1})").has_value());

    const auto refused = price.request(fields);

    ASSERT_TRUE(std::holds_alternative<DecodeProblem>(refused));
    EXPECT_EQ(std::get<DecodeProblem>(refused).why, "legs: Must be 0 or more.");
}

TEST_F(FormTest, a_field_that_is_named_problem_is_a_field) {
    const auto json = std::string{R"({"legs":[],"problem":"I am afraid of heights"})"};

    const auto request = request_of(trip, json);

    EXPECT_EQ(trip.encode_request(request.get()), json);
}

// Handlers and queries may be const and noexcept, as steps may.
struct Job {
    static constexpr std::string_view kind = "job";
};
struct PlainHandler {
    void work(Tx&, const pawl::Job<Job>&) {}
};
struct QuietHandler {
    JobResult work(KeyedCall&, const pawl::Job<Job>&) const noexcept { return done; }
};
struct QuietQuery {
    static constexpr std::string_view name = "quiet";
    Response answer(Snapshot&, const Asked<Job>&) const noexcept { return {}; }
};
struct TwoHands {
    JobResult work(Tx&, Call&, const pawl::Job<Job>&) { return done; }
};
static_assert(JobHandler<PlainHandler> && JobHandler<QuietHandler> && !JobHandler<TwoHands>);
static_assert(Query<QuietQuery> && !Query<PlainHandler>);

}  // namespace
}  // namespace pawl::detail
