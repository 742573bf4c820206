#include "src/store/store.hpp"

namespace pawl {

void detail::Session::send(const Sql& statement, std::span<const Value> parameters) {
    run(statement, parameters, [](const Row&) {});
}

}  // namespace pawl

namespace pawl::store {

void check_phase_end(bool deadline_passed, bool statement_failed) {
    using Kind = StoreError::Kind;
    constexpr auto undone = StoreError::Effect::rolled_back;
    if (deadline_passed)
        throw StoreError{Kind::deadline, undone, "", "the phase took longer than its deadline"};
    if (statement_failed)
        throw StoreError{
            Kind::refused,
            undone,
            "",
            "a statement failed and the phase ended without an error: only tx.attempt() can go on "
            "after a failure"};
}

void Store::lookup(std::unique_ptr<Lookup> lookup) {
    class Read final : public Work {
    public:
        explicit Read(std::unique_ptr<Lookup> of) : look_{std::move(of)} {}
        void run(Session& session) override {
            session.run(look_->statement(), look_->parameters(), [&](const Row& row) {
                look_->row(row);
            });
            now_ = session.now();
        }
        void done(std::exception_ptr failed) noexcept override {
            look_->done(std::move(failed), now_);
        }

    private:
        std::unique_ptr<Lookup> look_;
        TimePoint now_;
    };
    read(std::make_unique<Read>(std::move(lookup)));
}

std::exception_ptr stopped() {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::unavailable, StoreError::Effect::none, "", "the store is stopping"});
}

std::exception_ptr too_many_wait(std::size_t waiting_max) {
    return std::make_exception_ptr(StoreError{
        StoreError::Kind::busy,
        StoreError::Effect::none,
        "",
        "more than " + std::to_string(waiting_max) + " transactions are already waiting"});
}

}  // namespace pawl::store
