#pragma once

#include <pawl/testing_operations.hpp>

#include "src/store/store.hpp"

#include <atomic>
#include <memory>

namespace pawl::testing {

// Where a run is cut, and how far it is: shared by its processes. Thread-safe.
struct CutPoint {
    Cut cut{Cut::nothing};
    int at{};
    std::atomic<int> commits{0};
    std::atomic<int> calls{0};

    // Counts one; whether it is the one to cut.
    bool counts_commit() { return ++commits == at && is_of_commit(cut); }
    bool counts_call() { return ++calls == at && cut != Cut::nothing && !is_of_commit(cut); }
    static bool is_of_commit(Cut cut) {
        return cut == Cut::before_commit || cut == Cut::after_commit || cut == Cut::commit_in_doubt;
    }
};

// One process's access to a store that outlives it. Once the process is dead, nothing of it reaches
// the database any more: every work ends with StoreError (unavailable).
class CutStore final : public store::Store {
public:
    CutStore(store::Store& inner, CutPoint& point) : inner_{inner}, point_{point} {}

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    std::string_view text_of(const Sql& statement) const override {
        return inner_.text_of(statement);
    }
    void stop() override {}

    void kill() { dead_ = true; }
    bool is_dead() const { return dead_; }

private:
    class CutWork;

    store::Store& inner_;
    CutPoint& point_;
    std::atomic<bool> dead_{false};
};

}  // namespace pawl::testing
