#pragma once

#include "src/base/clock.hpp"
#include "src/store/postgres/sharing_rule.hpp"
#include "src/store/store.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pawl::postgres {

// What a connection runs at once. Empty of all: the end.
struct Turn {
    enum class Form {
        write,   // One work.
        read,    // One work.
        shared,  // Works of one isolation, in one transaction.
        looks
    };
    Form form{Form::write};
    std::vector<std::unique_ptr<store::Work>> works;
    std::vector<bool> in_savepoint;  // Of a shared turn's works.
    std::vector<std::unique_ptr<store::Look>> looks;
    bool empty() const { return works.empty() && looks.empty(); }
    bool ended{false};
};

struct LineLimits {
    std::size_t waiting_max{};
    int sharing{};              // Connections that run shared transactions at once; 0: none does.
    std::size_t share_max{32};  // Works in one of them, and looks that go together.
};

// What waits for a connection, and who takes what: the oldest first, behind what is urgent. Works
// that may share a transaction are left to a few connections, so that they come together there
// while those are busy: no timer, a turn sizes itself. Thread-safe.
class Line {
public:
    // The clock outlives it.
    Line(LineLimits limits, base::Clock& clock)
        : limits_{limits}, clock_{clock}, rule_{limits.sharing} {}

    enum class Put { taken, too_many, stopping };
    // Moves what it is given only if it is taken.
    Put write(std::unique_ptr<store::Work>& work, store::Urgency urgency);
    Put read(std::unique_ptr<store::Work>& work);
    Put look(std::unique_ptr<store::Look>& look);

    // Waits for a turn; an empty one is the end. Whoever waits since last gets the next, so that
    // few connections stay busy and warm.
    Turn take();
    // Its turn is over, as far as others wait for that. Again: does nothing.
    void ended(Turn& turn);
    // For each alone, ahead of all that came later; nothing is refused.
    void put_back_alone(std::vector<std::unique_ptr<store::Work>> works);

    void shared_went_well();
    void shared_broke_up();
    // Of works that shared a transaction, as SharingRule says it.
    void keep_apart(const void* kind);
    void threw(const void* kind);

    // What waits is still taken, then turns are empty.
    void stop();
    bool is_stopping() const;
    // All that waits, for whoever tells them that nobody comes.
    Turn take_all();

private:
    struct Waiting {
        std::uint64_t number{};  // In the order of arrival.
        std::unique_ptr<store::Work> work;
        bool writes{};
    };
    struct WaitingLook {
        std::uint64_t number{};
        std::unique_ptr<store::Look> look;
    };
    struct Sleeper {
        std::condition_variable woken;
        bool awake{false};
    };
    enum class Lane { none, urgent, alone, shared, looks };

    std::size_t size() const {
        return urgent_.size() + alone_.size() + shared_.size() + looks_.size();
    }
    std::optional<Put> refusal() const;
    Lane next() const;
    Turn take_from(Lane lane);
    void take_shared(Turn& turn);
    void wake_one();

    const LineLimits limits_;
    base::Clock& clock_;
    mutable std::mutex mutex_;
    std::vector<Sleeper*> sleepers_;  // Who fell asleep last stands last.
    std::deque<Waiting> urgent_;
    std::deque<Waiting> alone_;
    std::deque<Waiting> shared_;
    std::deque<WaitingLook> looks_;
    std::uint64_t next_number_{1};
    int sharing_{0};
    int looking_{0};
    SharingRule rule_;
    bool stopping_{false};
};

}  // namespace pawl::postgres
