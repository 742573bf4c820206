#include "apps/payouts/run_now.hpp"

#include "apps/payouts/payouts.hpp"

namespace payouts {

namespace {

struct StagedJob {
    std::string job;
};

}  // namespace

template <class Args>
pawl::Next<pawl::Refusal> RunNow<Args>::stage(pawl::Tx& tx, const Started& at) {
    if (!operators_.contains(at.principal.account))
        return pawl::refuse(problem(403, "Only an operator may do this", ""));
    const auto staged = tx.stage(Args{tx.now().time_since_epoch().count()});
    return pawl::answer(202, StagedJob{staged.id});
}

template class RunNow<CutOff>;
template class RunNow<FetchReports>;
static_assert(pawl::Operation<CutOffNow>);
static_assert(pawl::Operation<FetchNow>);

}  // namespace payouts
