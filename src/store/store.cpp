#include "src/store/store.hpp"

namespace pawl {

void detail::Session::send(const Sql& statement, std::span<const Value> parameters) {
    run(statement, parameters, [](const Row&) {});
}

}  // namespace pawl

namespace pawl::store {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

}  // namespace

StoreError statement_error(Kind kind, std::string_view statement, const std::string& why) {
    return {kind, Effect::none, statement, "statement " + std::string{statement} + why};
}

void GuardedSession::run_phase(Work& work) {
    try {
        work.run(*this);
    } catch (...) {
        throw_unless_phase_error();
        if (met_another_) throw StoreError{*met_another_};
        throw;
    }
    throw_unless_phase_error();  // The phase swallowed the error.
    if (deadline_passed())
        throw StoreError{
            Kind::deadline, Effect::rolled_back, "", "the phase took longer than its deadline"};
    if (failed_)
        throw StoreError{
            Kind::refused,
            Effect::rolled_back,
            "",
            "a statement failed and the phase ended without an error: only tx.attempt() can go on "
            "after a failure"};
}

// Throws the failure again if it came from the environment or a lost fence.
void GuardedSession::throw_unless_phase_error() const {
    if (!failed_ || !why_) return;
    if (why_->transient() || why_->kind() == Kind::fenced) throw StoreError{*why_};
}

void GuardedSession::refuse_after_failure(std::string_view statement) const {
    if (failed_)
        throw statement_error(
            Kind::refused,
            statement,
            " follows one that failed: only tx.attempt() can go on after a failure"
        );
}

void GuardedSession::note_failure(const StoreError& error) {
    failed_ = true;
    why_ = error;
    if (error.kind() == Kind::contention) met_another_ = error;
}

void GuardedSession::forget_failure() {
    failed_ = false;
    why_.reset();
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
        Kind::unavailable, Effect::none, "", "the store is stopping"});
}

std::exception_ptr too_many_wait(std::size_t waiting_max) {
    return std::make_exception_ptr(StoreError{
        Kind::busy,
        Effect::none,
        "",
        "more than " + std::to_string(waiting_max) + " transactions are already waiting"});
}

}  // namespace pawl::store
