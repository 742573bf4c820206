#pragma once

#include "src/store/store.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::conformance {

// Passes everything on, and records the name of each executed statement. With PAWL_CHECK_STATEMENTS
// set, the program fails at its end if no test executed some named statement.
class RecordingStore final : public store::Store {
public:
    // The names of the statements that one store executed, in order. Thread-safe.
    class Trace {
    public:
        void add(std::string_view name);
        std::vector<std::string> take();  // Since the last call.

    private:
        std::mutex mutex_;
        std::vector<std::string> names_;
    };

    RecordingStore(std::unique_ptr<store::Store> inner, std::string name);

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    void lookup(std::unique_ptr<store::Lookup> look) override;
    std::string_view text_of(const Sql& statement) const override;
    store::StoreStats stats() const override { return inner_->stats(); }
    void notify(std::string_view hash) override { inner_->notify(hash); }
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override {
        return inner_->listen(std::move(on_notice));
    }
    void stop() override { inner_->stop(); }
    bool serves_one_process() const override { return inner_->serves_one_process(); }
    std::optional<store::PreallocationStatements> preallocation() const override {
        return inner_->preallocation();
    }
    Trace& trace() { return trace_; }

private:
    Trace trace_;  // Outlives the wrapped store, whose threads add to it.
    std::string name_;
    std::unique_ptr<store::Store> inner_;
};

}  // namespace pawl::conformance
