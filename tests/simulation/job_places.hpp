#pragma once

#include "src/store/store.hpp"
#include "tests/simulation/outside_queue.hpp"
#include "tests/simulation/receiver.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

// Checks I7 at every moment: in the database a job is either staged, in the queue, or dead; a job
// that is neither there nor in the external queue had its effect, or was purged.
class JobPlaces {
public:
    struct Asks {
        std::function<bool(const std::string& kind, const std::string& args)> is_purged;
        std::function<void(const std::string& what)> wrong;
    };
    JobPlaces(const Broker& broker, const Receiver& mail, const Receiver& carrier, Asks asks)
        : broker_{broker}, mail_{mail}, carrier_{carrier}, asks_{std::move(asks)} {}

    void inspect(store::Session& session);

private:
    struct Job {
        std::string kind;
        std::string args;
        int in_database{};
        bool outside{};
        bool gone{};
    };
    void judge(const std::string& jid, Job& job);
    bool has_effect(const Job& job) const;

    const Broker& broker_;
    const Receiver& mail_;
    const Receiver& carrier_;
    Asks asks_;
    std::map<std::string, Job> jobs_;  // By job id.
    std::set<std::string> packed_;     // Owners of a parcel.
};

// From a job's arguments: {"who":"a/k1"}.
std::string who_in(std::string_view args);

}  // namespace pawl::simulation
