#pragma once

#include <pawl/call.hpp>
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

// What becomes of one request to a receiver.
enum class Does {
    serve,
    decline,
    retry,   // Refused before anything was done.
    lost,    // The request never arrives.
    cut,     // Done, and the answer never arrives.
    throws,  // Likewise, by an exception.
    late,    // Done some time after its sender gave up.
    stuck    // Stores an error under the key, and repeats that from now on (F8).
};

// Somebody else's service: a bank, a carrier, a mail server. It remembers what it did by key for
// 24 hours, as Stripe does; without a key it does whatever it is asked. What it did, `effects`, is
// the truth that the checks go by.
class Receiver {
public:
    static constexpr auto memory = 24h;

    struct Asks {
        std::function<Does(const Receiver&)> does;
        std::function<milliseconds()> takes;  // Before it does anything.
        std::function<bool()> sender_is_dead;
        std::function<void(std::string_view invariant, const std::string& what)> violated;
    };
    Receiver(SimClock& clock, Asks asks) : clock_{clock}, asks_{std::move(asks)} {}

    // Without a key: each is a new one.
    Outcome<Done, Declined> take(const std::string& key, const std::string& who);
    // The nth of what was sent and has not arrived.
    void land(std::size_t nth);
    std::size_t on_the_way() const { return late_.size(); }
    // Nothing is under way to it, or at it.
    bool quiet() const { return late_.empty() && under_way_now_ == 0; }
    bool quiet_about(const std::string& who) const;

    std::map<std::string, std::vector<std::string>> effects;  // Ids, by who.
    bool stored_an_error{false};

private:
    struct Remembered {
        enum class What { done, declined, error } what{};
        std::string id;
        Steady at;
    };
    struct Late {
        std::string key;
        std::string who;
    };
    const Remembered* remembered(const std::string& key);
    Outcome<Done, Declined> answer(const Remembered& past) const;
    Done carry_out(const std::string& key, const std::string& who);

    SimClock& clock_;
    Asks asks_;
    std::map<std::string, Remembered> past_;
    std::map<std::string, Steady> first_;  // First call of each key.
    std::map<std::string, int> under_way_;
    std::map<std::string, int> under_way_about_;
    std::deque<Late> late_;
    int under_way_now_{0};
    int ids_{0};
};

}  // namespace pawl::simulation
