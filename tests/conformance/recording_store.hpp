#pragma once

#include "src/store/store.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::conformance {

// Passes everything on, and notes the name of each statement that was executed. At the end of a
// program that runs with PAWL_CHECK_STATEMENTS set, a named statement that no test executed is a
// failure.
class RecordingStore final : public store::Store {
public:
    RecordingStore(std::unique_ptr<store::Store> inner, std::string name);

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override;
    void read(std::unique_ptr<store::Work> work) override;
    void look(std::unique_ptr<store::Look> look) override;
    std::optional<std::string_view> text_of(const Sql& statement) const override;
    store::StoreStats stats() const override { return inner_->stats(); }
    void notify(std::string_view hash) override { inner_->notify(hash); }
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override {
        return inner_->listen(std::move(on_notice));
    }
    void stop() override { inner_->stop(); }
    bool serves_one_process() const override { return inner_->serves_one_process(); }

private:
    std::unique_ptr<store::Store> inner_;
    std::string name_;
};

}  // namespace pawl::conformance
