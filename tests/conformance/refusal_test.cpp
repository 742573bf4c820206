#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/tx.hpp>

#include "src/engine/engine.hpp"
#include "tests/conformance/each_store.hpp"

#include <future>

// A step that refuses leaves nothing of its own, on each store (issue 19: `take` was committed with
// a 422 for a `give` to an unknown account).
namespace pawl::conformance {

namespace {

using engine::StoredResponse;

struct Why {
    std::string why;
};
struct SendNotice {
    static constexpr std::string_view kind = "send_notice";
    std::string text;
};

struct TransferRequest {
    std::string then;  // How `move_money` ends: "refuse", "answer", "throw", or empty: it goes on.
};

// Opens the transfer, then moves the money, with a job and a failed attempt beside it.
template <KeyRule Rule>
class Transfer {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr Settings settings{.key = Rule};
    using Started = pawl::Started<TransferRequest>;
    struct Opened {
        static constexpr std::string_view name = "opened";
        std::string then;
    };
    struct Moved {
        static constexpr std::string_view name = "moved";
    };

    Next<Opened> open(Tx& tx, const Started& at) {
        send(tx, notes::insert, "opened");
        tx.stage(SendNotice{"opened"});
        return Opened{at.request.then};
    }
    Next<Moved, Refusal> move_money(Tx& tx, const Opened& at) {
        execute(tx, notes::insert, "taken");
        EXPECT_TRUE(tx.attempt([&] { execute(tx, notes::insert, "taken"); }));
        send(tx, notes::insert, "given");
        tx.stage(SendNotice{"moved"});
        if (at.then == "refuse") return refuse(422, Why{"no such account"});
        if (at.then == "answer") return answer(402, Why{"the bank is closed"});
        if (at.then == "throw") throw std::runtime_error{"a bug"};
        return Moved{};
    }
    Finish finish(Tx& tx, const Moved&) {
        send(tx, notes::insert, "finished");
        return answer(201, Why{"done"});
    }
    using Flow =
        Steps<Atomic<&Transfer::open>, Atomic<&Transfer::move_money>, Atomic<&Transfer::finish>>;
};

class RefusalTest : public OnEachStore {
protected:
    ~RefusalTest() override { engine.stop(10s); }

    engine::Answer ask(const std::string& key, const std::string& then) {
        detail::RequestFields fields;
        EXPECT_FALSE(fields.add_json(R"({"then":")" + then + R"("})"));
        const auto& form = key.empty() ? without_key : with_key;
        auto request = std::get<detail::ErasedValue>(form.request(fields));
        std::promise<engine::Answer> answered;
        const auto on_answer = [&](engine::Answer a) { answered.set_value(std::move(a)); };
        if (key.empty())
            engine.handle_unkeyed(form, {0, {}, {}}, request, on_answer);
        else
            engine.handle(
                {.operation = &form,
                 .principal = {"acme", "jane"},
                 .key = key,
                 .method = "POST",
                 .path = "/transfers",
                 .origin = "192.0.2.1",
                 .request = request,
                 .fingerprint = "the same"},
                on_answer
            );
        return answered.get_future().get();
    }
    Response response(const std::string& key, const std::string& then) {
        return std::get<StoredResponse>(ask(key, then)).response;
    }
    std::vector<std::string> written() { return read_rows<std::string>(*store, notes::texts); }
    std::vector<std::string> staged() {
        return read_rows<std::string>(
            *store, on_all("list_job_args", "SELECT args FROM pawl_jobs ORDER BY id")
        );
    }

    using Texts = std::vector<std::string>;
    base::Random& random = base::system_random();
    engine::Engine engine{
        {*store, clock, random}, {}, engine::open_installation(*store, clock, random, "")};
    const detail::ErasedOperation& with_key =
        engine.add(detail::erase_operation(std::make_shared<Transfer<KeyRule::required>>()));
    const detail::ErasedOperation without_key =
        detail::erase_operation(std::make_shared<Transfer<KeyRule::none>>());
};
PAWL_ON_EACH_STORE(RefusalTest);

}  // namespace

TEST_P(RefusalTest, rolls_back_its_own_step_and_keeps_the_earlier_one) {
    const auto refused = response("k", "refuse");

    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(written(), Texts{"opened"});
    EXPECT_EQ(staged(), Texts{R"({"text":"opened"})"});
}

TEST_P(RefusalTest, is_stored_and_replayed) {
    (void)response("k", "refuse");

    const auto again = std::get<StoredResponse>(ask("k", "refuse"));

    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.response.status, 422);
    EXPECT_EQ(again.response.body, R"({"why":"no such account"})");
    EXPECT_EQ(note_count(), 1);
}

TEST_P(RefusalTest, without_a_key_rolls_back_too) {
    EXPECT_EQ(response("", "refuse").status, 422);

    EXPECT_EQ(written(), Texts{"opened"});
}

TEST_P(RefusalTest, an_answer_keeps_what_the_step_wrote) {
    EXPECT_EQ(response("k", "answer").status, 402);

    EXPECT_EQ(written(), (Texts{"opened", "taken", "given"}));
    EXPECT_EQ(staged().size(), 2U);
}

TEST_P(RefusalTest, a_step_that_could_refuse_and_goes_on_keeps_its_writes) {
    EXPECT_EQ(response("k", "").status, 201);

    EXPECT_EQ(written(), (Texts{"opened", "taken", "given", "finished"}));
    EXPECT_EQ(staged().size(), 2U);
}

TEST_P(RefusalTest, a_step_that_could_refuse_and_throws_leaves_nothing_of_the_request) {
    EXPECT_TRUE(std::holds_alternative<engine::Rejection>(ask("k", "throw")));

    EXPECT_EQ(written(), Texts{});
    EXPECT_EQ(staged(), Texts{});
    EXPECT_EQ(response("other", "").status, 201);
}

}  // namespace pawl::conformance
