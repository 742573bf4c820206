#include "src/ops/marker.hpp"
#include "src/store/blocking.hpp"
#include "tests/simulation/life.hpp"

#include <array>

namespace pawl::simulation {

void History::draw_faults() {
    if (options_.small) {
        dies_ = freezes_ = commits_fail_ = replies_fail_ = true;
        return;
    }
    dies_ = choices_.pick(2) == 1;
    freezes_ = choices_.pick(2) == 1;
    commits_fail_ = choices_.pick(2) == 1;
    replies_fail_ = choices_.pick(2) == 1;
    jumps_ = choices_.pick(2) == 1;
    steps_clock_ = choices_.one_in(3);
    days_pass_ = choices_.one_in(4);
    calls_are_slow_ = choices_.one_in(3);
    jobs_fail_ = choices_.pick(2) == 1;
    keeps_books_ = choices_.one_in(4);
    beats_ = choices_.pick(2) == 1;
    holds_ = choices_.one_in(3);
}

Does History::bank_does() {
    if (dying_) return Does::lost;
    if (!faults_ || !replies_fail_ || !choices_.one_in(2)) return Does::serve;
    constexpr std::array all{
        Does::serve,
        Does::retry,
        Does::lost,
        Does::cut,
        Does::throws,
        Does::late,
        Does::decline,
        Does::stuck};
    return all[choices_.pick(all.size())];
}

Does History::other_does() {
    if (dying_) return Does::lost;
    if (!faults_ || !replies_fail_ || !choices_.one_in(3)) return Does::serve;
    constexpr std::array all{
        Does::serve, Does::retry, Does::lost, Does::cut, Does::throws, Does::late};
    return all[choices_.pick(all.size())];
}

milliseconds History::call_takes() {
    if (dying_ || !faults_ || !calls_are_slow_ || !choices_.one_in(3)) return 0ms;
    constexpr std::array times{1'000ms, 12'000ms, 45'000ms};
    return times[choices_.pick(times.size())];
}

void History::on_the_way(bool there) {
    if (!faults_ || !replies_fail_ || dying_ || !choices_.one_in(12)) return;
    had_.faults = true;
    tell(there ? "the queue is not reached" : "the queue's answer is lost");
    throw StoreError{
        StoreError::Kind::unavailable,
        there ? StoreError::Effect::none : StoreError::Effect::in_doubt,
        "outside",
        "a planted failure"};
}

// Returns true if this step was a fault.
bool History::fault() {
    if (!faults_) return false;
    if (holds_ && choices_.one_in(30)) {
        hold_or_release();
        return true;
    }
    return process_fault() || time_fault() || restore_fault();
}

bool History::process_fault() {
    if (dies_ && ended_.crashes < options_.crashes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.crashes;
        had_.faults = true;
        tell(server(which) + " dies");
        dying_ = true;
        processes_[which]->kill();
        dying_ = false;
        starts_at_[which] = clock_.steady() + milliseconds{choices_.pick(4) * 15'000};
        return true;
    }
    if (freezes_ && ended_.freezes < options_.freezes_max && choices_.one_in(40)) {
        const auto which = choices_.pick(processes_.size());
        if (!processes_[which]->alive()) return false;
        ++ended_.freezes;
        had_.faults = true;
        tell(server(which) + " stops for more than a lease");
        processes_[which]->frozen_until =
            clock_.steady() + lease + milliseconds{choices_.pick(4) * 5'000};
        return true;
    }
    return false;
}

bool History::time_fault() {
    if (steps_clock_ && ended_.clock_steps < options_.clock_steps_max && choices_.one_in(40)) {
        constexpr std::array steps{-40'000ms, 40'000ms, -600'000ms, 600'000ms};
        ++ended_.clock_steps;
        const auto by = steps[choices_.pick(steps.size())];
        clock_.set_wall(by);
        had_.clock_steps = true;
        had_.clock_went_back = had_.clock_went_back || by < 0ms;
        tell("the clock is set by " + std::to_string(by / 1s) + " s");
        return true;
    }
    if (jumps_ && choices_.one_in(30)) {
        constexpr std::array waits{100ms, 1'000ms, 6'000ms, 31'000ms};
        clock_.advance(waits[choices_.pick(waits.size())]);
        had_.jumps = true;
        tell("time passes");
        return true;
    }
    // No request takes days.
    if (days_pass_ && !had_.days && quiet() && choices_.one_in(60)) {
        const bool some_hours = choices_.pick(2) == 1;
        clock_.advance(some_hours ? hours : days);
        had_.days = true;
        tell(some_hours ? "hours pass" : "days pass");
        return true;
    }
    return false;
}

bool History::restore_fault() {
    if (!restores_ || had_.restored || !choices_.one_in(20)) return false;
    if (backed_up_ && choices_.pick(4) == 0) {
        restore();
        return true;
    }
    home().back_up();
    checks_.backed_up();
    backed_up_ = clock_.now();
    tell("the database is backed up");
    return true;
}

// As docs/howto/backup.md says: all servers end, and start after the epoch was opened.
void History::restore() {
    tell("the backup is restored");
    dying_ = true;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (processes_[i]->alive()) processes_[i]->kill();
        starts_at_[i] = clock_.steady() + milliseconds{choices_.pick(4) * 15'000};
    }
    dying_ = false;
    home().restore();
    store::write_now(database_, [&](store::Session& session) {
        const ops::Restore restore{*backed_up_, session.now() + 100h, "a person", "simulated"};
        (void)ops::open_epoch(session, restore);
        engine::read_epochs(session, shared_->installation);
    });
    ++ended_.restores;
    had_.faults = had_.restored = true;
    decided_.clear();
    checks_.restored();
}

}  // namespace pawl::simulation
