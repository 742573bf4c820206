#include "src/store/store.hpp"
#include "src/testing/cut_store.hpp"
#include "src/testing/test_process.hpp"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace pawl::testing {

namespace {

using detail::ErasedPlan;
using pawl::detail::CallOutcome, pawl::detail::ErasedOperation;

constexpr int repeats_max = 20;

bool is_final(const RunResult& end) {
    const auto* problem = std::get_if<RunProblem>(&end);
    return problem == nullptr || !problem->retry;
}

// One run: a request, the processes that work on it one after the other, and what cuts them.
class OneRun {
public:
    OneRun(const ErasedPlan& plan, CutPoint& point)
        : plan_{plan}, point_{point}, database_{plan.owner, plan.migrations} {}

    void run() {
        if (plan_.prepare) plan_.prepare(database_);
        auto end = run_process();
        for (int i = 0; !is_final(end); ++i) {
            if (i == repeats_max)
                throw std::logic_error{"pawl: " + text() + ": the request does not end"};
            end_leases(store());
            end = run_process();
        }
        check_repeat(end);
        if (plan_.check) plan_.check(database_, {point_.cut, point_.at, end});
    }

private:
    store::Store& store() { return database_.database().store(); }
    std::string text() const { return CutRun{point_.cut, point_.at, {}}.text(); }

    // What the client of one process gets; a dead one answers nobody.
    RunResult run_process() {
        CutStore cut{store(), point_};
        TestProcess process{database_, cut, form_of(cut)};
        auto end = process.run(plan_.request, plan_.by, [&] { return cut.is_dead(); });
        if (!end || cut.is_dead()) return RunProblem{.type = "dead", .retry = true};
        return *end;
    }

    ErasedOperation form_of(CutStore& cut) {
        auto form = plan_.make();
        for (auto& step : form.steps)
            if (step.foreign)
                step.call = [this, &cut, real = std::move(step.call)](
                                void* op, KeyedCall& call, const void* point
                            ) {
                    const auto make = [&] { return real(op, call, point); };
                    return point_.counts_call() ? cut_call(cut, make) : make();
                };
        return form;
    }

    CallOutcome cut_call(CutStore& cut, const std::function<CallOutcome()>& make) {
        if (point_.cut == Cut::call_refused) return Retry{"the test refused the call"};
        if (point_.cut == Cut::call_lost) return InDoubt{"the test lost the call"};
        auto outcome = make();
        if (point_.cut == Cut::call_in_doubt) return InDoubt{"the test lost the result"};
        if (point_.cut == Cut::after_call) cut.kill();
        if (point_.cut == Cut::call_returns_late) {
            end_leases(store());
            (void)run_process();
        }
        return outcome;
    }

    // A client that asks once more gets the same answer.
    void check_repeat(const RunResult& end) {
        const auto* answer = std::get_if<RunAnswer>(&end);
        if (answer == nullptr) return;
        end_leases(store());
        const auto again = run_process();
        const auto* same = std::get_if<RunAnswer>(&again);
        if (same == nullptr || !same->replayed ||
            same->response.status != answer->response.status ||
            same->response.body != answer->response.body)
            throw std::logic_error{"pawl: " + text() + ": a repeat was answered differently"};
    }

    const ErasedPlan& plan_;
    CutPoint& point_;
    TestDatabase database_;
};

}  // namespace

std::string CutRun::text() const {
    const auto n = std::to_string(at);
    switch (cut) {
        case Cut::nothing:
            break;
        case Cut::before_commit:
            return "killed before commit " + n;
        case Cut::after_commit:
            return "killed after commit " + n;
        case Cut::commit_in_doubt:
            return "no answer to commit " + n;
        case Cut::after_call:
            return "killed after call " + n;
        case Cut::call_refused:
            return "call " + n + " was not made";
        case Cut::call_lost:
            return "call " + n + " was lost on its way";
        case Cut::call_in_doubt:
            return "the result of call " + n + " was lost";
        case Cut::call_returns_late:
            return "call " + n + " returned late";
    }
    return "not cut";
}

namespace detail {

int kill_everywhere(const ErasedPlan& plan) {
    CutPoint none;
    OneRun{plan, none}.run();
    int runs = 1;
    const auto run_each = [&](std::initializer_list<Cut> cuts, int count) {
        for (const auto cut : cuts)
            for (int at = 1; at <= count; ++at, ++runs) {
                CutPoint point{.cut = cut, .at = at};
                OneRun{plan, point}.run();
            }
    };
    run_each({Cut::before_commit, Cut::after_commit, Cut::commit_in_doubt}, none.commits);
    run_each(
        {Cut::after_call,
         Cut::call_refused,
         Cut::call_lost,
         Cut::call_in_doubt,
         Cut::call_returns_late},
        none.calls
    );
    return runs;
}

}  // namespace detail
}  // namespace pawl::testing
