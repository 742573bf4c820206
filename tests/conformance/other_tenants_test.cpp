#include <pawl/json.hpp>
#include <pawl/operation.hpp>
#include <pawl/tx.hpp>

#include "src/engine/engine.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/http/key_progress_query.hpp"
#include "src/ops/reaper.hpp"
#include "tests/conformance/each_store.hpp"

#include <future>

// Another tenant can't find out whether a key exists: neither by the answer nor by its time, as the
// same statements run for an existing and an unknown key.
namespace pawl::conformance {

namespace {

using engine::Answer;
using engine::StoredResponse;

struct Done {
    std::string what;
};

class Pay {
public:
    static constexpr std::string_view name = "pay";
    static constexpr Settings settings{.provider_key_lifetime = 20h};
    struct Request {
        std::int64_t cents{};
    };
    using Started = pawl::Started<Request>;
    struct Begun {
        static constexpr std::string_view name = "begun";
        std::int64_t cents{};
    };
    struct Paid {
        std::string id;
    };
    using Charge = std::function<Outcome<Paid>()>;

    explicit Pay(Charge charge) : charge_{std::move(charge)} {}
    Next<Begun> begin(Tx&, const Started& at) { return Begun{at.request.cents}; }
    Outcome<Paid> charge(KeyedCall&, const Begun&) { return charge_(); }
    Finish keep(Tx&, const Begun&, const Paid& paid) { return answer(201, Done{paid.id}); }
    using Flow =
        Steps<Atomic<&Pay::begin>, Foreign<Repeat::safe_with_key, &Pay::charge, &Pay::keep>>;

private:
    Charge charge_;
};

const Principal owner{"acme", "jane"};
const Principal others[] = {{"other", "jane"}, {"acme", "joe"}, {"acm", "ejane"}, {"", ""}};

class OtherTenantsTest : public OnEachStore {
protected:
    OtherTenantsTest() {
        form =
            &engine.add(detail::erase_operation(std::make_shared<Pay>([this] { return charge(); }))
            );
        (void)ask(owner, "first");  // So that ids are cached where they are preallocated.
    }
    ~OtherTenantsTest() override { engine.stop(10s); }

    std::future<Answer> send(const Principal& who, const std::string& key) {
        detail::RequestFields fields;
        EXPECT_FALSE(fields.add_json(R"({"cents":5})"));
        engine::KeyedRequest request;
        request.operation = form;
        request.principal = who;
        request.key = key;
        request.method = "POST";
        request.path = "/payments";
        request.origin = "192.0.2.1";
        request.request = std::get<detail::ErasedValue>(form->request(fields));
        request.fingerprint = "of 5 cents";
        auto answered = std::make_shared<std::promise<Answer>>();
        auto answer = answered->get_future();
        engine.handle(std::move(request), [answered](Answer a) { answered->set_value(a); });
        return answer;
    }
    Answer get(std::future<Answer> answer) {
        if (answer.wait_for(20s) != std::future_status::ready)
            throw std::logic_error{"no answer in 20 s"};
        return answer.get();
    }
    Answer ask(const Principal& who, const std::string& key) { return get(send(who, key)); }

    // Without preallocation, which happens when few ids are left, whatever the request.
    std::vector<std::string> statements() {
        auto names = dynamic_cast<RecordingStore&>(*store).trace().take();
        if (const auto ahead = store->preallocation())
            std::erase(names, std::string{ahead->preallocate->name});
        return names;
    }
    Response state_of(const Principal& who, const std::string& key) {
        return read_now(*store, [&](Session& session) {
            return detail::TxFactory::with_snapshot(session, {}, [&](Snapshot& read) {
                return http::KeyProgressQuery{}.answer(read, {who, "192.0.2.1", {key}});
            });
        });
    }

    // Other callers ask for the owner's key and for an unknown one.
    void expect_no_difference(const std::string& key) {
        for (const auto& who : others) {
            SCOPED_TRACE(who.tenant + " " + who.account + " asks for " + key);
            statements();
            const auto shown = state_of(who, key);
            const auto statements_of_shown = statements();
            const auto unknown = state_of(who, "unknown");
            EXPECT_EQ(shown.status, 404);
            EXPECT_EQ(shown.body, unknown.body);
            EXPECT_EQ(shown.headers.size(), unknown.headers.size());
            EXPECT_EQ(statements_of_shown, statements());
            EXPECT_FALSE(statements_of_shown.empty());

            const auto done = std::get<StoredResponse>(ask(who, key));
            const auto statements_of_done = statements();
            const auto fresh =
                std::get<StoredResponse>(ask(who, "unknown " + std::to_string(++asked)));
            EXPECT_EQ(done.response.status, 201);
            EXPECT_EQ(done.response.body, fresh.response.body);
            EXPECT_FALSE(done.replayed);
            EXPECT_EQ(statements_of_done, statements());
            EXPECT_FALSE(statements_of_done.empty());
        }
    }

    Outcome<Pay::Paid> charge() {
        if (away) return Retry{"the provider is away"};
        if (held.valid()) {
            auto until = std::exchange(held, {});
            at_call.set_value();
            if (until.wait_for(20s) != std::future_status::ready) return Retry{"held too long"};
        }
        return Pay::Paid{"paid"};
    }

    base::Random& random = base::system_random();
    engine::Engine engine{
        {*store, clock, random}, {}, engine::open_installation(*store, clock, random, "")};
    const detail::ErasedOperation* form{};
    std::atomic<bool> away{false};
    std::shared_future<void> held;  // The next call waits for it.
    std::promise<void> at_call;
    int asked{0};
};
PAWL_ON_EACH_STORE(OtherTenantsTest);

}  // namespace

TEST_P(OtherTenantsTest, a_finished_key_looks_like_an_unknown_one) {
    ASSERT_TRUE(std::holds_alternative<StoredResponse>(ask(owner, "hers")));
    ASSERT_EQ(state_of(owner, "hers").status, 200);

    expect_no_difference("hers");
}

TEST_P(OtherTenantsTest, a_key_that_failed_and_waits_looks_like_an_unknown_one) {
    away = true;
    ASSERT_FALSE(std::holds_alternative<StoredResponse>(ask(owner, "hers")));
    away = false;

    expect_no_difference("hers");
}

TEST_P(OtherTenantsTest, a_key_in_progress_looks_like_an_unknown_one) {
    std::promise<void> go_on;
    held = go_on.get_future().share();
    auto first = send(owner, "hers");
    ASSERT_EQ(at_call.get_future().wait_for(20s), std::future_status::ready);

    expect_no_difference("hers");

    go_on.set_value();
    EXPECT_TRUE(std::holds_alternative<StoredResponse>(get(std::move(first))));
}

TEST_P(OtherTenantsTest, an_expired_key_looks_like_an_unknown_one) {
    ASSERT_TRUE(std::holds_alternative<StoredResponse>(ask(owner, "hers")));
    clock.advance(73h);
    ops::Reaper reaper{*store, clock, {}};
    ASSERT_GE(reaper.run_once(clock.now()).reaped, 1);
    ASSERT_NE(state_of(owner, "hers").body.find("expired"), std::string::npos);

    expect_no_difference("hers");
}

}  // namespace pawl::conformance
