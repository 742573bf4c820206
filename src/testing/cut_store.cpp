#include "src/testing/cut_store.hpp"

#include <utility>

namespace pawl::testing {

namespace {

StoreError gone(StoreError::Effect effect) {
    return {StoreError::Kind::unavailable, effect, "commit", "the test has cut the connection"};
}

}  // namespace

// The one transaction that is cut.
class CutStore::CutWork final : public store::Work {
public:
    CutWork(CutStore& store, std::unique_ptr<store::Work> inner)
        : store_{store}, inner_{std::move(inner)} {}

    void run(store::Session& session) override {
        inner_->run(session);
        if (store_.point_.cut == Cut::before_commit) throw gone(StoreError::Effect::rolled_back);
    }
    void done(std::exception_ptr failed) noexcept override {
        if (store_.point_.cut != Cut::commit_in_doubt) store_.kill();
        if (!failed) failed = std::make_exception_ptr(gone(StoreError::Effect::in_doubt));
        inner_->done(std::move(failed));
    }
    std::chrono::milliseconds deadline() const override { return inner_->deadline(); }
    Isolation isolation() const override { return inner_->isolation(); }
    const void* kind() const override { return inner_->kind(); }

private:
    CutStore& store_;
    std::unique_ptr<store::Work> inner_;
};

void CutStore::write(std::unique_ptr<store::Work> work, store::Urgency urgency) {
    if (dead_) return work->done(std::make_exception_ptr(gone(StoreError::Effect::none)));
    if (point_.counts_commit()) work = std::make_unique<CutWork>(*this, std::move(work));
    inner_.write(std::move(work), urgency);
}

void CutStore::read(std::unique_ptr<store::Work> work) {
    if (dead_) return work->done(std::make_exception_ptr(gone(StoreError::Effect::none)));
    inner_.read(std::move(work));
}

}  // namespace pawl::testing
