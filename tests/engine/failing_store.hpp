#pragma once

#include <pawl/error.hpp>

#include "src/store/store.hpp"
#include "tests/passing_session.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pawl::testing {

using namespace std::chrono_literals;

// With PAWL_TEST_RERUNS in the environment each work runs, is rolled back and runs again, as a
// store may do with it (ADR 40).
inline const bool reruns = std::getenv("PAWL_TEST_RERUNS") != nullptr;

// Passes everything on, but fails the chosen writes, counted from arm().
class FailingStore final : public store::Store {
public:
    // refused: it never ran. undone: it ran and was rolled back. in_doubt: it was committed,
    // without an answer. in_doubt_undone: it was rolled back, without an answer.
    enum class How { refused, undone, in_doubt, in_doubt_undone };
    using Kind = StoreError::Kind;
    explicit FailingStore(std::unique_ptr<store::Store> inner) : inner_{std::move(inner)} {}
    ~FailingStore() override { inner_->stop(); }

    // The nth write from now on fails; 0: none.
    void arm(int nth, How how, Kind kind = Kind::unavailable) { arm_some(nth, nth, how, kind); }
    // The first to the last of these fail.
    void arm_some(int first, int last, How how, Kind kind = Kind::unavailable) {
        const std::lock_guard lock{mutex_};
        first_ = first;
        last_ = last;
        how_ = how;
        kind_ = kind;
        count_ = 0;
        ended_ = 0;
    }
    // The statement that the errors name.
    void fail_in(std::string_view statement) { fails_in_ = statement; }
    int writes() const {
        const std::lock_guard lock{mutex_};
        return count_;
    }
    // Waits until this many writes have been committed or rolled back since arm().
    void wait_for_writes(int n) {
        std::unique_lock lock{mutex_};
        if (!written_.wait_for(lock, 20s, [&] { return ended_ >= n; }))
            throw std::logic_error{"fewer writes than awaited in 20 s"};
    }

    using store::Store::write;
    void write(std::unique_ptr<store::Work> work, store::Urgency urgency) override {
        std::optional<How> how;
        {
            const std::lock_guard lock{mutex_};
            ++count_;
            if (first_ <= count_ && count_ <= last_) how = how_;
        }
        inner_->write(std::make_unique<Watched>(*this, std::move(work), how, kind_), urgency);
    }
    void read(std::unique_ptr<store::Work> work) override {
        bool fails = false;
        {
            const std::lock_guard lock{mutex_};
            ++reads_;
            fails = reads_to_fail_ > 0;
            if (fails) --reads_to_fail_;
            read_.notify_all();
            if (!fails && reads_to_hold_ > 0 && --reads_to_hold_ == 0) {
                held_read_ = std::move(work);
                return;
            }
        }
        if (fails)
            return work->done(std::make_exception_ptr(StoreError{
                Kind::unavailable, StoreError::Effect::none, "read", "planted"}));
        inner_->read(std::move(work));
    }
    int reads() const {
        const std::lock_guard lock{mutex_};
        return reads_;
    }
    void fail_reads(int next) {
        const std::lock_guard lock{mutex_};
        reads_to_fail_ = next;
    }
    // The nth read from now on waits until it is released.
    void hold_next_read(int nth = 1) {
        const std::lock_guard lock{mutex_};
        reads_to_hold_ = nth;
    }
    void let_read_go() {
        std::unique_ptr<store::Work> held;
        {
            const std::lock_guard lock{mutex_};
            held.swap(held_read_);
        }
        if (!held) throw std::logic_error{"no read is held"};
        inner_->read(std::move(held));
    }
    // Until there have been this many reads.
    void wait_for_reads(int n) {
        std::unique_lock lock{mutex_};
        if (!read_.wait_for(lock, 20s, [&] { return reads_ >= n; }))
            throw std::logic_error{"fewer reads than awaited in 20 s"};
    }

    // As a database of several processes: listeners are told at once.
    void pass_notices() { passes_notices_ = true; }
    void notify(std::string_view hash) override { tell(hash); }
    std::unique_ptr<store::Listening> listen(store::OnNotice on_notice) override {
        if (!passes_notices_) return nullptr;
        const std::lock_guard lock{telling_};
        listeners_.emplace(++next_listener_, std::move(on_notice));
        return std::make_unique<store::Listening>([this, id = next_listener_] {
            const std::lock_guard ending{telling_};
            listeners_.erase(id);
        });
    }
    void tell(std::string_view hash) {
        const std::lock_guard lock{telling_};
        for (const auto& [id, on_notice] : listeners_) on_notice(hash);
    }
    std::size_t listeners() const {
        const std::lock_guard lock{telling_};
        return listeners_.size();
    }

    // As a remote store; for engines made from now on.
    void give_ids_ahead() { gives_ids_ahead_ = true; }
    std::optional<store::PreallocationStatements> preallocation() const override {
        static constexpr Sql take{
            "take_ids",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
            "SELECT (SELECT coalesce(max(id), 0) FROM pawl_key_registry) + i FROM n",
            {}};
        static constexpr Sql claim{
            "claim_key_under_id",
            "INSERT INTO pawl_key_registry (id, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            {}};
        if (!gives_ids_ahead_) return std::nullopt;
        return store::PreallocationStatements{&take, &claim};
    }

    std::string_view text_of(const Sql& statement) const override {
        return inner_->text_of(statement);
    }
    store::StoreStats stats() const override { return inner_->stats(); }
    void stop() override { inner_->stop(); }

private:
    class Watched final : public store::Work {
    public:
        Watched(
            FailingStore& store,
            std::unique_ptr<store::Work> inner,
            std::optional<How> how,
            Kind kind
        )
            : store_{store}, inner_{std::move(inner)}, how_{how}, kind_{kind} {}
        void run(store::Session& session) override {
            if (how_ == How::refused) throw error(StoreError::Effect::none);
            if (reruns) run_in_vain(session);
            inner_->run(session);
            if (how_ == How::undone) throw error(StoreError::Effect::rolled_back);
            if (how_ == How::in_doubt_undone) throw error(StoreError::Effect::in_doubt);
        }
        void done(std::exception_ptr failed) noexcept override {
            if (!failed && how_)
                failed = std::make_exception_ptr(error(StoreError::Effect::in_doubt));
            {
                const std::lock_guard lock{store_.mutex_};
                ++store_.ended_;
                store_.written_.notify_all();
            }
            inner_->done(std::move(failed));
        }
        std::chrono::milliseconds deadline() const override { return inner_->deadline(); }

    private:
        // As if another work of the batch had failed.
        void run_in_vain(store::Session& session) {
            session.savepoint();
            Levels levels{session};
            try {
                inner_->run(levels);
            } catch (...) {  // The second run decides. A phase that throws leaves its savepoint.
            }
            for (; levels.open > 0; --levels.open) session.roll_back_to();
            session.roll_back_to();
        }
        struct Levels final : PassingSession {
            using PassingSession::PassingSession;
            void savepoint() override {
                inner_.savepoint();
                ++open;
            }
            void roll_back_to() override {
                inner_.roll_back_to();
                --open;
            }
            void release() override {
                inner_.release();
                --open;
            }
            int open{0};
        };
        StoreError error(StoreError::Effect effect) const {
            return {kind_, effect, store_.fails_in_, "a planted failure"};
        }
        FailingStore& store_;
        std::unique_ptr<store::Work> inner_;
        std::optional<How> how_;
        Kind kind_;
    };

    std::unique_ptr<store::Store> inner_;
    mutable std::mutex mutex_;
    std::condition_variable written_;
    std::condition_variable read_;
    int reads_{0};
    int reads_to_fail_{0};
    int reads_to_hold_{0};
    std::unique_ptr<store::Work> held_read_;
    // Recursive: a woken attempt may end, and notify, on the notifying thread.
    mutable std::recursive_mutex telling_;
    std::map<int, store::OnNotice> listeners_;
    int next_listener_{0};
    bool passes_notices_{false};
    std::atomic<bool> gives_ids_ahead_{false};
    int count_{0};
    int ended_{0};
    int first_{0};
    int last_{0};
    How how_{How::undone};
    Kind kind_{Kind::unavailable};
    std::string_view fails_in_{"commit"};
};

}  // namespace pawl::testing
