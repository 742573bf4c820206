#pragma once

#include <pawl/call.hpp>
#include <pawl/inquiry.hpp>
#include <pawl/operation.hpp>

#include "tests/simulation/time.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

struct Done {
    std::string id;
};
struct Declined {
    std::string why;
};

// The fate of one request to a receiver.
enum class Does {
    serve,
    decline,
    retry,   // Rejection before it had any effect.
    lost,    // The request never arrives.
    cut,     // Done, and the answer never arrives.
    throws,  // The same, by an exception.
    late,    // Done some time after its sender gave up.
    stuck    // Stores an error under the key, and repeats it from now on (F8).
};

// An external service: a bank, a carrier, a mail server. It remembers its results by key for some
// time; without a key it does all that it is asked. `effects`, what it really did, is
// the ground truth of the checks.
class Receiver {
public:
    // A bank refuses a request that comes later than this after it was sent.
    static constexpr auto late_max = 100s;
    static constexpr auto final_after = std::chrono::seconds{120};

    struct Asks {
        std::function<Does(const Receiver&)> does;
        std::function<milliseconds()> takes;  // Time before it acts.
        std::function<bool()> sender_is_dead;
        std::function<void(std::string_view invariant, const std::string& what)> violated;
    };
    enum class Refusals { remembered, forgotten };
    Receiver(
        SimClock& clock,
        Asks asks,
        Refusals refusals = Refusals::remembered,
        milliseconds memory = 24h  // Like Stripe.
    )
        : clock_{clock}, asks_{std::move(asks)}, refusals_{refusals}, memory_{memory} {}

    // Without a key: each request is new.
    Outcome<Done, Declined> take(const std::string& key, const std::string& who);
    // What has become of the requests under this key, or about this subject.
    Inquiry<Done, Declined> inquire(const std::string& key, const std::string& who);
    // How long it has been asked about this subject, if its last answer decided nothing.
    milliseconds undecided_for(const std::string& who) const;
    // Delivers the nth request that was sent and has not arrived.
    void land(std::size_t nth);
    std::size_t on_the_way() const { return late_.size(); }
    // No request is on its way or being handled.
    bool quiet() const { return late_.empty() && under_way_now_ == 0; }
    bool quiet_about(const std::string& who) const;

    std::map<std::string, std::vector<std::string>> effects;  // Ids, by who.
    bool stored_an_error{false};
    // Whether late requests are refused, as a bank that can be asked must do.
    bool refuses_late{false};

private:
    struct Remembered {
        enum class What { done, declined, error } what{};
        std::string id;
        Steady at;
    };
    struct Late {
        std::string key;
        std::string who;
        Steady sent;
    };
    struct Asked {
        Steady since;  // The first inquiry since the last request.
        bool undecided{};
    };
    const Remembered* remembered(const std::string& key);
    Outcome<Done, Declined> answer(const Remembered& past) const;
    Done carry_out(const std::string& key, const std::string& who);

    SimClock& clock_;
    Asks asks_;
    Refusals refusals_;
    milliseconds memory_;
    std::map<std::string, Remembered> past_;
    std::map<std::string, Steady> first_;  // First call of each key.
    std::map<std::string, Asked> asked_;   // By who.
    std::map<std::string, int> under_way_;
    std::map<std::string, int> under_way_about_;
    std::deque<Late> late_;
    int under_way_now_{0};
    int ids_{0};
};

}  // namespace pawl::simulation
