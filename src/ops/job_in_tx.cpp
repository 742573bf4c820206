#include "src/ops/job_in_tx.hpp"

#include "src/core/fault.hpp"
#include "src/engine/tx_factory.hpp"

#include <utility>

namespace pawl::ops {

namespace {

// Thrown in a handler's transaction to roll it back:
struct Lost {};
struct DoneBefore {};
struct Undo {};

class JobInTx final : public store::Work {
public:
    JobInTx(
        engine::Engine& engine,
        queue::Queue& queue,
        const detail::ErasedJob& form,
        const JobRun& run,
        std::function<void(TxOutcome)> on_end
    )
        : engine_{engine},
          queue_{queue},
          form_{form},
          run_{run},
          args_{form.decode(run.job.raw.args)},
          on_end_{std::move(on_end)} {}

    void run(store::Session& session) override {
        if (!core::may_still_call(run_.held_since, engine_.clock().moment(), run_.lease))
            throw Lost{};
        if (const auto* why = std::get_if<std::string>(&args_)) {
            worked_ = detail::NotDecoded{*why};
            throw Undo{};
        }
        const auto* const args = std::get<detail::ErasedValue>(args_).get();
        staged_ = false;
        auto context = engine_.tx_context(session, run_.job.raw.key_id, staged_, isolation());
        context.trace = run_.trace;
        context.running.label.name = run_.job.kind;
        context.running.label.jid = run_.job.raw.jid;
        context.running.label.limit = run_.deadline;
        worked_ = detail::TxFactory::with_tx(context, [&](Tx& tx) {
            return form_.in_tx(form_.handler.get(), tx, run_.job.raw, args);
        });
        const auto* result = std::get_if<JobResult>(&worked_);
        if (result == nullptr || !std::holds_alternative<JobDone>(*result)) throw Undo{};
        PAWL_FAULT("worker.tx.inside");
        const auto marked = queue_.finish_in_transaction(session, run_.job);
        if (marked == queue::FinishResult::lost) throw Lost{};
        if (marked == queue::FinishResult::done_before) throw DoneBefore{};
    }
    void done(std::exception_ptr failed) noexcept override { on_end_(outcome(std::move(failed))); }
    std::chrono::milliseconds deadline() const override { return run_.deadline; }
    Isolation isolation() const override { return Isolation::repeatable_read; }
    // Jobs of one kind run the same code, so the store may judge a job by others of its kind.
    const void* kind() const override { return &form_; }

private:
    TxOutcome outcome(std::exception_ptr failed) {
        if (!failed) return TxDone{staged_};
        try {
            std::rethrow_exception(std::move(failed));
        } catch (const Undo&) {
            return TxRolledBack{std::move(worked_)};
        } catch (const Lost&) {
            return TxLost{};
        } catch (const DoneBefore&) {
            return TxDoneBefore{};
        } catch (const StoreError& error) {
            if (error.kind() == StoreError::Kind::fenced) return TxLost{};
            // A job that missed the deadline would miss it again, and come back for ever.
            if (!error.transient() || error.kind() == StoreError::Kind::deadline)
                return TxFailed{error.what()};
            return TxStoreFailed{};
        } catch (const std::exception& thrown) {
            return TxFailed{thrown.what()};
        } catch (...) {
            return TxFailed{"an exception that is not a std::exception"};
        }
    }

    engine::Engine& engine_;
    queue::Queue& queue_;
    const detail::ErasedJob& form_;
    JobRun run_;
    const detail::Decoded args_;
    std::function<void(TxOutcome)> on_end_;
    detail::Worked worked_;
    bool staged_{false};
};

}  // namespace

std::unique_ptr<store::Work> job_in_tx(
    engine::Engine& engine,
    queue::Queue& queue,
    const detail::ErasedJob& form,
    const JobRun& run,
    std::function<void(TxOutcome)> on_end
) {
    return std::make_unique<JobInTx>(engine, queue, form, run, std::move(on_end));
}

}  // namespace pawl::ops
