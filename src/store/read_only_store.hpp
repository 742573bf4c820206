#pragma once

#include "src/store/store.hpp"

#include <memory>
#include <utility>

namespace pawl::store {

// Passes reads on and refuses each write with StoreError (read_only).
class ReadOnlyStore final : public Store {
public:
    explicit ReadOnlyStore(std::unique_ptr<Store> inner) : inner_{std::move(inner)} {}

    using Store::write;
    void write(std::unique_ptr<Work> work, Urgency) override;
    void read(std::unique_ptr<Work> work) override { inner_->read(std::move(work)); }
    void lookup(std::unique_ptr<Lookup> lookup) override { inner_->lookup(std::move(lookup)); }
    std::string_view text_of(const Sql& statement) const override {
        return inner_->text_of(statement);
    }
    bool serves_one_process() const override { return inner_->serves_one_process(); }
    std::string file() const override { return inner_->file(); }
    StoreStats stats() const override { return inner_->stats(); }
    void stop() override { inner_->stop(); }

private:
    std::unique_ptr<Store> inner_;
};

}  // namespace pawl::store
